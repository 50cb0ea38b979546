printf '{ "mbgrad": 1,\n  "bodies": { "bob": { "mass": 1, } } }\n' >broken.json
"$MBGRAD" check broken.json
