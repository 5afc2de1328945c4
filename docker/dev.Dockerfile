# A machine to work on fleetprof: what ./check needs, on Debian 12. .devcontainer/ opens the source in it.
# SPDX-License-Identifier: Apache-2.0
FROM debian:bookworm
COPY tools/deps /tmp/
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates gdb git sudo \
    && /tmp/deps check \
    && rm -rf /var/lib/apt/lists/* /tmp/deps \
    && useradd --create-home --shell /bin/bash dev \
    && echo 'dev ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/dev
USER dev
