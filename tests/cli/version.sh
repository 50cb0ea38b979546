"$MBGRAD" --version
