# cmake -D FILE=page.html -D NAME=page -D OUT=page.c -P embed.cmake: the file as a C array.
file(READ ${FILE} hex HEX)
string(LENGTH "${hex}" digits)
math(EXPR n "${digits} / 2")
string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
file(WRITE ${OUT} "#include \"${NAME}.h\"\n
const unsigned char ${NAME}[] = {\n${hex}};\nconst size_t ${NAME}_bytes = ${n};\n")
