# Debian's nginx with the header module, the demo page and the browser agent.
# SPDX-License-Identifier: Apache-2.0
ARG DEBIAN=trixie
FROM debian:${DEBIAN}-slim AS build
WORKDIR /src
COPY tools/deps tools/
RUN tools/deps build
COPY . .
RUN tools/build plain

FROM debian:${DEBIAN}-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends nginx \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /src/build/modules/ngx_http_fleetprof_module.so /usr/lib/nginx/modules/
COPY demo/ /srv/demo/
COPY agent/dist/ /srv/agent/
COPY docker/nginx.conf /etc/nginx/nginx.conf
USER www-data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD \
    bash -c 'exec 3<>/dev/tcp/127.0.0.1/8080 && printf "HEAD / HTTP/1.0\r\n\r\n" >&3 && head -n 1 <&3 | grep -q " 200 "'
STOPSIGNAL SIGQUIT
CMD ["nginx", "-e", "stderr", "-g", "daemon off;"]
