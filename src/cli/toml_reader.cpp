#include "toml_reader.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <toml++/toml.h>

namespace {

struct entry {
    std::string key;
    const toml::node *node;
    int index;
};

/* Thrown out of the walk with the callback's status, which is the result. */
struct stopped {
    cuzk_status status;
};

toml_type type_of(const toml::node &node) {
    switch (node.type()) {
    case toml::node_type::table:
        return TOML_TABLE;
    case toml::node_type::array:
        return TOML_ARRAY;
    case toml::node_type::string:
        return TOML_STRING;
    case toml::node_type::integer:
        return TOML_INTEGER;
    case toml::node_type::floating_point:
        return TOML_FLOAT;
    case toml::node_type::boolean:
        return TOML_BOOLEAN;
    default:
        return TOML_TIME;
    }
}

void collect(std::vector<entry> &out, const toml::table &table, const std::string &prefix) {
    for (const auto &[name, node] : table) {
        const std::string key = prefix + std::string(name.str());
        out.push_back({key, &node, -1});
        if (const toml::table *inner = node.as_table()) {
            collect(out, *inner, key + ".");
        } else if (const toml::array *array = node.as_array()) {
            int index = 0;
            for (const toml::node &item : *array)
                out.push_back({key, &item, index++});
        }
    }
}

void print_where(char out[320], const char *name, const toml::source_position &at) {
    std::snprintf(out, 320, "%.280s:%u:%u", name, static_cast<unsigned>(at.line),
                  static_cast<unsigned>(at.column));
}

void call(const entry &e, const char *name, toml_value_fn fn, void *ctx, cuzk_error *err) {
    toml_value v = {};
    v.key = e.key.c_str();
    v.type = type_of(*e.node);
    v.index = e.index;
    print_where(v.where, name, e.node->source().begin);
    std::string text;
    switch (v.type) {
    case TOML_STRING:
        text = e.node->ref<std::string>();
        if (text.find('\0') != std::string::npos)
            throw stopped{error_set(err, CUZK_CONFIG, v.where, "remove it",
                                    "%s: the string has a NUL in it", v.key)};
        v.string = text.c_str();
        break;
    case TOML_INTEGER:
        v.integer = e.node->ref<int64_t>();
        break;
    case TOML_FLOAT:
        v.real = e.node->ref<double>();
        break;
    case TOML_BOOLEAN:
        v.boolean = e.node->ref<bool>();
        break;
    case TOML_ARRAY:
        v.n_items = e.node->as_array()->size();
        break;
    default:
        break;
    }
    const cuzk_status status = fn(ctx, &v, err);
    if (status != CUZK_OK) throw stopped{status};
}

bool earlier(const entry &a, const entry &b) {
    const auto &x = a.node->source().begin, &y = b.node->source().begin;
    return x.line != y.line ? x.line < y.line : x.column < y.column;
}

} // namespace

extern "C" const char *toml_type_name(enum toml_type type) {
    switch (type) {
    case TOML_STRING:
        return "a string";
    case TOML_INTEGER:
        return "an integer";
    case TOML_FLOAT:
        return "a number with a point";
    case TOML_BOOLEAN:
        return "true or false";
    case TOML_TIME:
        return "a date or time";
    case TOML_ARRAY:
        return "an array";
    case TOML_TABLE:
        return "a table";
    }
    return "nothing known";
}

extern "C" cuzk_status toml_read(const char *name, const char *text, size_t n, toml_value_fn fn,
                                 void *ctx, struct cuzk_error *err) {
    try {
        const toml::table root = toml::parse(std::string_view(text, n), std::string_view(name));
        std::vector<entry> entries;
        collect(entries, root, "");
        /* toml++ keeps a table by name; stable, so that an array stays before its elements. */
        std::stable_sort(entries.begin(), entries.end(), earlier);
        for (const entry &e : entries)
            call(e, name, fn, ctx, err);
        return CUZK_OK;
    } catch (const stopped &s) {
        return s.status;
    } catch (const toml::parse_error &e) {
        char where[320];
        print_where(where, name, e.source().begin);
        return error_set(err, CUZK_CONFIG, where, "correct the line", "this is no TOML: %.250s",
                         std::string(e.description()).c_str());
    } catch (const std::bad_alloc &) {
        return error_set(err, CUZK_NO_MEMORY, name, nullptr, "no memory to read it");
    } catch (const std::exception &e) {
        return error_set(err, CUZK_CONFIG, name, "correct the file", "it cannot be read: %.250s",
                         e.what());
    }
}
