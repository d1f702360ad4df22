# Stands in for haproxy:3.0-alpine with Debian's HAProxy.
FROM hindsight-standin/data-root
CMD ["haproxy", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]
