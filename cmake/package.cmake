# The Debian package: `cpack -G DEB` in a build folder that was configured with
# -DCMAKE_INSTALL_PREFIX=/usr.
include(GNUInstallDirs)
install(FILES ${PROJECT_SOURCE_DIR}/packaging/cuzk.service DESTINATION lib/systemd/system)

# The package's own configuration is the example with the state folder that the unit makes.
file(READ ${PROJECT_SOURCE_DIR}/packaging/cuzk.toml example)
string(REPLACE "# state_dir = " "state_dir = " installed "${example}")
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/packaging/cuzk.toml CONTENT "${installed}" @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/packaging/cuzk.toml DESTINATION ${CMAKE_INSTALL_FULL_SYSCONFDIR}/cuzk)
install(FILES ${PROJECT_SOURCE_DIR}/packaging/cuzk.toml ${PROJECT_SOURCE_DIR}/README.md
  ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/LICENSE-MIT
  ${PROJECT_SOURCE_DIR}/LICENSE-APACHE ${PROJECT_SOURCE_DIR}/doc/configuration.md
  ${PROJECT_SOURCE_DIR}/doc/operating.md ${PROJECT_SOURCE_DIR}/doc/errors.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME cuzk)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "the cuzk authors <cuzk@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "proving daemon and tools for Filecoin storage providers")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON) # the libraries, as dpkg-shlibdeps finds them
set(CPACK_DEBIAN_PACKAGE_DEPENDS adduser)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  ${PROJECT_SOURCE_DIR}/packaging/postinst ${PROJECT_SOURCE_DIR}/packaging/prerm
  ${PROJECT_SOURCE_DIR}/packaging/postrm ${PROJECT_SOURCE_DIR}/packaging/conffiles
  ${PROJECT_SOURCE_DIR}/packaging/triggers)
include(CPack)
