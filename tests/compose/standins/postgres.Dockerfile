# Stands in for pgvector/pgvector:pg16 with Debian's PostgreSQL 17.
FROM hindsight-standin/data-root
RUN groupadd -o -g 999 image-postgres \
    && useradd -o -u 999 -g 999 -d /var/lib/postgresql image-postgres \
    && mkdir -p /run/postgresql \
    && install -d -o 999 -g 999 -m 1777 /var/lib/postgresql/data
COPY postgres-entrypoint.sh /usr/local/bin/
ENV PATH=/usr/lib/postgresql/17/bin:$PATH PGDATA=/var/lib/postgresql/data
VOLUME /var/lib/postgresql/data
ENTRYPOINT ["sh", "/usr/local/bin/postgres-entrypoint.sh"]
CMD ["postgres"]
