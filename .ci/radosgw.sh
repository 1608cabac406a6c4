#!/usr/bin/env bash
# A real S3 server for the store tests: Ceph's radosgw with one monitor and one in-memory OSD, on loopback.
#
#   eval "$(.ci/radosgw.sh start)"    # prints `export QUEUEBELL_TEST_S3=…`, bucket and credentials; all else goes to stderr
#   npx vitest run test/state
#   .ci/radosgw.sh stop
#
# Debian packages are installed when missing (root). QUEUEBELL_RADOSGW_DIR: where it lives, default <tmp>/queuebell-radosgw.
set -euo pipefail

dir=${QUEUEBELL_RADOSGW_DIR:-${TMPDIR:-/tmp}/queuebell-radosgw}
bucket=queuebell

start() {
  if [ -e "$dir" ]; then stop; fi
  install_packages
  mkdir -p "$dir"/{run,mon,osd,rgw,log}
  mon_port=$(free_port) rgw_port=$(free_port)
  write_config
  start_monitor
  start_osd
  start_gateway
  create_user_and_bucket
}

install_packages() {
  # Of several names `command -v` is content with one.
  local program missing=
  for program in radosgw ceph-mon ceph-osd ceph radosgw-admin; do
    command -v "$program" >/dev/null || missing=$program
  done
  [ -n "$missing" ] || return 0
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends radosgw ceph-mon ceph-osd ceph-common
}

# cephx stays on: without it radosgw cannot log in.
write_config() {
  fsid=$(cat /proc/sys/kernel/random/uuid)
  cat >"$dir/ceph.conf" <<CONF
[global]
fsid = $fsid
mon_initial_members = a
mon_host = v2:127.0.0.1:$mon_port
public_network = 127.0.0.0/8
ms_bind_ipv6 = false
keyring = $dir/keyring
run_dir = $dir/run
admin_socket = $dir/run/\$name.asok
pid_file = $dir/run/\$name.pid
log_file = $dir/log/\$name.log
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 8
osd_crush_chooseleaf_type = 0
mon_allow_pool_size_one = true
mon_max_pg_per_osd = 1000
mon_osd_min_in_ratio = 0
mon_data_avail_crit = 0
mon_data = $dir/mon
osd_data = $dir/osd
osd_objectstore = memstore
memstore_device_bytes = 1073741824
rgw_data = $dir/rgw
[client.admin]
rgw_frontends = beast endpoint=127.0.0.1:$rgw_port
rgw_dns_name = 127.0.0.1
CONF
}

start_monitor() {
  ceph-authtool --create-keyring "$dir/keyring" --gen-key -n mon. --cap mon 'allow *'
  ceph-authtool "$dir/keyring" --gen-key -n client.admin --cap mon 'allow *' --cap osd 'allow *' --cap mgr 'allow *' --cap mds 'allow *'
  monmaptool --create --addv a "[v2:127.0.0.1:$mon_port]" --fsid "$fsid" "$dir/monmap"
  ceph-mon -c "$dir/ceph.conf" --mkfs -i a --monmap "$dir/monmap" --keyring "$dir/keyring"
  daemon ceph-mon -i a
  wait_for 'the monitor' admin status
}

start_osd() {
  local uuid secret
  uuid=$(cat /proc/sys/kernel/random/uuid)
  secret=$(ceph-authtool --gen-print-key)
  echo "{\"cephx_secret\": \"$secret\"}" | admin osd new "$uuid" -i -
  ceph-authtool --create-keyring "$dir/osd/keyring" --name osd.0 --add-key "$secret"
  ceph-osd -c "$dir/ceph.conf" --keyring "$dir/osd/keyring" -i 0 --mkfs --osd-uuid "$uuid"
  daemon ceph-osd -i 0 --keyring "$dir/osd/keyring"
  wait_for 'the OSD' osd_is_up
}

osd_is_up() { admin osd stat | grep -q '1 up'; }

start_gateway() {
  daemon radosgw -n client.admin
  wait_for 'the gateway' gateway_answers
}

gateway_answers() { (exec 3<>"/dev/tcp/127.0.0.1/$rgw_port") 2>/dev/null; }

create_user_and_bucket() {
  local key=queuebelltest secret
  secret=$(tr -d - </proc/sys/kernel/random/uuid)
  radosgw-admin -c "$dir/ceph.conf" user create --uid queuebell --display-name Queuebell --access-key "$key" --secret "$secret"
  {
    echo "export QUEUEBELL_TEST_S3=http://127.0.0.1:$rgw_port"
    echo "export QUEUEBELL_TEST_BUCKET=$bucket"
    echo "export AWS_ACCESS_KEY_ID=$key AWS_SECRET_ACCESS_KEY=$secret AWS_REGION=us-east-1"
  } >"$dir/exports"
  # shellcheck disable=SC1091
  (. "$dir/exports" && node --input-type=module -e "
    import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
    const client = new S3Client({ endpoint: process.env.QUEUEBELL_TEST_S3, forcePathStyle: true })
    await client.send(new CreateBucketCommand({ Bucket: process.env.QUEUEBELL_TEST_BUCKET }))")
  cat "$dir/exports" >&3
}

daemon() {
  local name=$1
  setsid "$@" -c "$dir/ceph.conf" -f </dev/null >"$dir/log/$name.out" 2>&1 3>&- &
  echo $! >"$dir/run/$name.started"
}

admin() { ceph -c "$dir/ceph.conf" --connect-timeout 5 "$@"; }

wait_for() {
  local what=$1
  shift
  for _ in $(seq 60); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.5
  done
  echo "radosgw.sh: $what did not start; see $dir/log" >&2
  stop
  exit 1
}

free_port() {
  node -e "const s = require('node:net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close() })"
}

stop() {
  local file pid
  for file in "$dir"/run/*.started; do
    [ -e "$file" ] || continue
    pid=$(cat "$file")
    # A number may belong to somebody else by now.
    if grep -qs "$dir/ceph.conf" <(tr '\0' ' ' <"/proc/$pid/cmdline"); then kill -9 "$pid" || true; fi
  done
  rm -rf "$dir"
}

cd "$(dirname "$0")/.."
case "${1:-}" in
start) start 3>&1 >&2 ;;
stop) stop ;;
*)
  echo "usage: $0 start|stop" >&2
  exit 2
  ;;
esac
