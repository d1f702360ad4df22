# Stands in for redis:7-alpine with Debian's Redis.
FROM hindsight-standin/data-root
RUN install -d -o 999 -g 1000 /data
VOLUME /data
WORKDIR /data
CMD ["redis-server"]
