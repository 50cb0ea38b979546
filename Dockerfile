# mbgrad in a container: docker build -t mbgrad . && docker run --rm -v "$PWD:/work" mbgrad gradient model.json
FROM debian:12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends make
COPY . /src
WORKDIR /src
RUN scripts/bootstrap && make install PREFIX=/usr/local

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends libopenblas0-serial libklu1 libsundials-cvodes6 \
    coinor-libipopt1v5 libnlopt0 libhdf5-103-1 libcairo2 libexpat1 && rm -rf /var/lib/apt/lists/*
COPY --from=build /usr/local /usr/local
RUN ldconfig && mbgrad doctor
WORKDIR /work
ENTRYPOINT ["mbgrad"]
CMD ["help"]
