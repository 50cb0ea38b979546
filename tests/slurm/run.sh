# A Slurm of one node, started here and ended at the end: a sweep as a job array gives the table of one program, and so
# it does when parts are killed and queued again. Needs slurmctld, slurmd, munge and root, else it is skipped (77).
set -u
for program in slurmctld slurmd munged sbatch; do
  command -v $program >/dev/null || PATH=$PATH:/usr/sbin command -v $program >/dev/null || { echo "no $program"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "needs root"; exit 77; }
export PATH=$PATH:/usr/sbin
top=$(mktemp -d)
chmod 755 "$top"
host=$(hostname -s)
port=$((20000 + $$ % 20000))
export SLURM_CONF=$top/slurm.conf

# ---------------------------------------------------------------------- the cluster

mkdir -p "$top/munge" "$top/state" "$top/spool"
chmod 700 "$top/munge"
head -c 64 /dev/urandom >"$top/munge/key"
chmod 400 "$top/munge/key"
cat >"$SLURM_CONF" <<END
ClusterName=test
SlurmctldHost=$host
SlurmUser=root
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$top/munge.socket
CredType=cred/munge
SlurmctldPidFile=$top/slurmctld.pid
SlurmdPidFile=$top/slurmd.pid
SlurmctldLogFile=$top/slurmctld.log
SlurmdLogFile=$top/slurmd.log
StateSaveLocation=$top/state
SlurmdSpoolDir=$top/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=100000
MpiDefault=none
NodeName=$host CPUs=4 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END

munged -F --key-file="$top/munge/key" --socket="$top/munge.socket" --pid-file="$top/munged.pid" \
  --log-file="$top/munged.log" --seed-file="$top/munged.seed" --force 2>/dev/null &
munged=$!
sleep 0.5
slurmctld -D -c >"$top/ctld.out" 2>&1 &
ctld=$!
slurmd -D >"$top/slurmd.out" 2>&1 &
slurmd=$!
stop() {
  scancel --user=root >/dev/null 2>&1
  kill $slurmd $ctld $munged 2>/dev/null
  wait $slurmd $ctld $munged 2>/dev/null
  [ -n "${KEEP:-}" ] || rm -rf "$top"
}
trap stop EXIT
for _ in $(seq 100); do
  sinfo -h -o %t 2>/dev/null | grep -q idle && break
  sleep 0.3
done
if ! sinfo -h -o %t 2>/dev/null | grep -q idle; then
  echo "Slurm does not come up"
  tail -n 5 "$top"/*.log "$top"/*.out
  exit 77
fi

# ---------------------------------------------------------------------- sweeps

cd "$top" || exit 1
points=${POINTS:-200}
kills=${KILLS:-3}
sweep() { "$MBGRAD" sweep quarter-car-design --random "$points" --vary k --vary c --end 0.4 "$@"; }
finished() { for _ in $(seq 6000); do [ -z "$(squeue -h)" ] && return 0; sleep 0.1; done; return 1; }
sweep --out whole.csv || exit 1

sweep --records array --slurm 4 --submit --out array.csv | sed 's/[0-9][0-9]*:/N:/; s/job [0-9][0-9]*/job N/g'
finished || { echo "the jobs do not end"; squeue; exit 1; }
cmp array.csv whole.csv || { cat array/*.log; exit 1; }
echo "array of 4: the table of one program"

# parts that are killed lose nothing: submitted again they go on
sweep --records killed --slurm 4 --out killed.csv >/dev/null
for kill in $(seq "$kills"); do
  sh killed/submit.sh >/dev/null || exit 1
  sleep "$(awk -v seed="$kill" 'BEGIN { srand(seed); print 0.3 + rand() }')"
  for process in $(pgrep -f "records '?$top/killed"); do kill -9 "$process" 2>/dev/null; done
  finished || exit 1
done
sh killed/submit.sh >/dev/null
finished || exit 1
cmp killed.csv whole.csv || { cat killed/*.log; exit 1; }
echo "killed $kills times: the same table"
