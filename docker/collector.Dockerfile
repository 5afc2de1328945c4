# The collector and the command line; they run without root and need no shell.
# SPDX-License-Identifier: Apache-2.0
ARG DEBIAN=trixie
FROM debian:${DEBIAN}-slim AS build
WORKDIR /src
COPY tools/deps tools/
RUN tools/deps build
COPY . .
RUN tools/build plain && tools/runtime-packages build/bin/* >build/runtime-packages

FROM debian:${DEBIAN}-slim
COPY --from=build /src/build/runtime-packages /tmp/
RUN apt-get update \
    && xargs apt-get install -y --no-install-recommends </tmp/runtime-packages \
    && rm -rf /var/lib/apt/lists/* /tmp/runtime-packages \
    && useradd --system --uid 10001 --home-dir /var/lib/fleetprof --create-home fleetprof \
    && install -d -o fleetprof -g fleetprof /var/lib/fleetprof/spool
COPY --from=build /src/build/bin/ /usr/local/bin/
USER fleetprof
VOLUME /var/lib/fleetprof/spool
EXPOSE 8600
# The admin listener stays inside the container: nothing outside reaches it.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD \
    bash -c 'exec 3<>/dev/tcp/127.0.0.1/8601 && printf "GET /readyz HTTP/1.0\r\n\r\n" >&3 && head -n 1 <&3 | grep -q " 200 "'
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/fleetprofd"]
CMD ["-c", "/etc/fleetprof/fleetprof.yaml"]
