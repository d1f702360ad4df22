# Stands in for python:3.11-slim-bookworm: Debian's own Python under the names that image has.
FROM hindsight-standin/python-root
COPY ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY pip.conf /etc/pip.conf
RUN rm -f /usr/lib/python3*/EXTERNALLY-MANAGED \
    && ln -s /usr/bin/python3 /usr/local/bin/python \
    && ln -s /usr/bin/python3 /usr/local/bin/python3
CMD ["python3"]
