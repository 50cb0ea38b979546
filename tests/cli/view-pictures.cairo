PNG
%PDF
-loglevel error -y -framerate 0.8 -i FOLDER/%05d.png -vf pad=ceil(iw/2)*2:ceil(ih/2)*2,format=yuv420p FOLDER/film.mp4
4
film
-loglevel error -y -framerate 0.8 -i FOLDER/%05d.png -vf scale=iw/2:-1:flags=lanczos,split[a][b];[a]palettegen[p];[b][p]paletteuse FOLDER/film.gif
4
film
mbgrad: error: --film: ffmpeg is missing, which makes GIF and MP4 files; install it, or write FILE.svg
