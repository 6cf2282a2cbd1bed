# One image for the API, the worker and all commands.
#
#   docker build -t certiset .
#
# PyTorch decides between CPU and CUDA. Its default wheels for Linux bring CUDA and run on a CPU as well, so the line
# above serves both; they take several gigabytes. For a small image without CUDA, or for another CUDA than the default,
# name the package index that has those wheels (PyTorch's installation page lists them) or the version:
#
#   docker build -t certiset:cpu --build-arg VARIANT=cpu --build-arg TORCH_INDEX=URL .
#   docker build -t certiset:cuda --build-arg VARIANT=cuda --build-arg TORCH='torch==2.8.0 torchvision==0.23.0' .
#
# VARIANT only checks what was installed: cpu and cuda refuse the other's wheels, any takes both.
#
# BASE is any image with Python 3.11 or newer as `python`, and its venv module. A tag can be moved; where that matters,
# give it with the digest that you have checked: --build-arg BASE=python:3.11.13-slim-bookworm@sha256:…
ARG BASE=python:3.11.13-slim-bookworm

FROM ${BASE} AS build
ARG VARIANT=any
ARG TORCH="torch torchvision"
ARG TORCH_INDEX=""
RUN python -m venv /opt/certiset
# First, and apart from the code: a change of the code does not fetch it again.
RUN --mount=type=cache,target=/root/.cache/pip \
    /opt/certiset/bin/pip install ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} $TORCH
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY src src
COPY core core
COPY service service
COPY worker worker
RUN --mount=type=cache,target=/root/.cache/pip \
    /opt/certiset/bin/pip install '.[server,s3]'
RUN /opt/certiset/bin/python -c "import torch; \
    found = 'cuda' if torch.version.cuda else 'cpu'; \
    assert '$VARIANT' in ('any', found), f'VARIANT is $VARIANT, but the installed PyTorch is for {found}'"

FROM ${BASE}
# Files of a large upload wait in TMPDIR, on the volume: /tmp may be memory.
ENV PATH=/opt/certiset/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    CERTISET_HOME=/var/lib/certiset \
    TMPDIR=/var/lib/certiset/tmp \
    MPLCONFIGDIR=/tmp
RUN groupadd --gid 10001 certiset \
    && useradd --uid 10001 --gid 10001 --home-dir /var/lib/certiset --no-create-home --shell /usr/sbin/nologin certiset \
    && install --directory --owner=10001 --group=10001 --mode=700 /var/lib/certiset /var/lib/certiset/tmp
COPY --from=build /opt/certiset /opt/certiset
USER 10001:10001
WORKDIR /var/lib/certiset
VOLUME /var/lib/certiset
EXPOSE 8000
# For the API, which is what the image runs by itself; docker-compose.yml gives the worker its own.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
ENTRYPOINT ["certiset"]
CMD ["api", "--host", "0.0.0.0", "--port", "8000"]
