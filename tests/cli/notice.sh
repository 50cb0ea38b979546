# NOTICE names every library that the program asks for, and the program is hardened; sanitizers bring libraries along:
# not under sanitizers
for library in $(readelf -d "$MBGRAD" | sed -n 's/.*NEEDED.*\[\(lib[A-Za-z_+]*[A-Za-z_+0-9]*\)[-.].*\]/\1/p'); do
  case $library in
  libasan | libubsan | libclang_rt) ;; # a build with sanitizers
  *) grep -q "\b$library\b" "$SRC/NOTICE" || echo "NOTICE does not name $library" ;;
  esac
done
readelf -d "$MBGRAD" | grep -q 'BIND_NOW\|Flags:.*NOW' || echo "addresses of functions can be written to: no BIND_NOW"
readelf -lW "$MBGRAD" | grep -q GNU_RELRO || echo "no RELRO"
readelf -lW "$MBGRAD" | grep 'GNU_STACK.*RWE'
readelf -h "$MBGRAD" | grep -q 'Type:.*DYN' || echo "not position-independent"
nm -D "$MBGRAD" | grep -q '__stack_chk_fail\|__asan' || echo "no stack protector"
# checked copies come with optimization: not in a debug build
[ "$BUILD_TYPE" != Release ] || nm -D "$MBGRAD" | grep -q '__[a-z]*printf_chk\|__mem[a-z]*_chk' || echo "no FORTIFY_SOURCE"
exit 0
