# Rubric Studio as a container: docs/operating.md. Any Debian with Python 3.11 to 3.13 can be the base.
ARG BASE=python:3.11.18-slim-bookworm

FROM ${BASE} AS build
WORKDIR /src
COPY requirements.txt ./
# The environment first: it changes less often than the program.
RUN python3 -m venv /opt/studio \
    && /opt/studio/bin/python -m pip install --no-cache-dir --no-compile --require-hashes -r requirements.txt
COPY . .
RUN /opt/studio/bin/python -m pip install --no-cache-dir --no-compile --no-deps --no-build-isolation . \
    && /opt/studio/bin/python -m pip uninstall --yes pip setuptools wheel \
    # What is only there to test or to compile the libraries is a fifth of them.
    && find /opt/studio -type d \( -name tests -o -name test -o -name include \) -prune \
        -path '*/site-packages/*' -exec rm -rf {} + \
    && find /opt/studio -name '*.pyi' -delete \
    && rm -rf /opt/studio/lib/python3.*/site-packages/litellm/proxy/_experimental/out \
    && python3 -m compileall -q -j 0 /opt/studio/lib

FROM ${BASE}
LABEL org.opencontainers.image.title="Rubric Studio" \
      org.opencontainers.image.licenses="MIT"
# A user without a name elsewhere, so that a volume can be given to it by number.
RUN useradd --uid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin studio \
    && install -d -o studio -g studio -m 0700 /data /backups
COPY --from=build /opt/studio /opt/studio
ENV PATH=/opt/studio/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOME=/data \
    RUBRIC_STUDIO_DB=/data/studio.db \
    RUBRIC_STUDIO_LOG=json
USER 10001:10001
WORKDIR /data
# A named volume takes over whose the folder is: both can be written by this user.
VOLUME ["/data", "/backups"]
EXPOSE 8501
# An address of its own machine: inside, the app is asked by no other name than localhost.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8501/healthz', timeout=4)"]
# Without a configuration ([access]) this is refused: docs/access.md.
ENTRYPOINT ["rubric-studio"]
CMD ["app", "--host", "0.0.0.0", "--port", "8501"]
