// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"fmt"
	"slices"
	"strings"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func backupChecks() []Check {
	return []Check{
		{
			ID: "R001", Category: Backups, Title: "the state of backups is known",
			Doc:  "The check reads whether backups are taken at all. etcd-druid takes backups if the Etcd has a store. In other clusters, the backup job renews a Lease, and annotations of the owner name this Lease. Without a store or a Lease, the state of backups is not known.",
			Cure: "Give the Etcd a backup store, or annotate the StatefulSet with kubectl-etcd.dev/backup-lease and kubectl-etcd.dev/backup-max-age. To take a backup now, run kubectl etcd snapshot save NAME.",
			run:  backupsKnown,
		},
		{
			ID: "R002", Category: Backups, Title: "backups succeed",
			Doc:  "The check reads the condition BackupReady of the Etcd, or the age of the Lease. Around each full snapshot, etcd-druid sets the condition to Unknown for a moment.",
			Cure: "Read the log of the leader's backup-restore sidecar, and check the store. A full snapshot makes the condition True again: kubectl etcd snapshot save NAME --via backup-restore.",
			run:  backupsSucceed,
		},
		{
			ID: "R003", Category: Backups, Title: "the last backup is recent",
			Doc:  fmt.Sprintf("The check reads etcd-druid's snapshot leases, which show when the last full and the last delta snapshot were written. They are renewed even while etcd-druid is down. With a daily schedule, a full snapshot may be %d hours old. A delta snapshot may be three of its periods old.", dailyLimit/time.Hour),
			Cure: "Follow the cure of R002.",
			run:  backupsRecent,
		},
	}
}

func backupsKnown(f *Facts) []Finding {
	if f.Cluster.Err != nil {
		return []Finding{unknown("the cluster's conditions", f.Cluster.Err)}
	}
	if f.Size() == 0 {
		return notApplicable("the cluster is scaled to 0")
	}
	if f.Cluster.Value.Cluster.BackupReady.Value() != policy.Absent {
		return nil
	}
	if f.Owner.Product().BackupRestore {
		return f.storeSet()
	}
	if f.Owner.WithoutStatefulSet() {
		return []Finding{info("", "nothing shows whether backups are taken, and pods alone have no object that could show it")}
	}
	return []Finding{warning("let the backup job renew a Lease after each backup, and name it: "+
		f.kubectl("annotate --overwrite "+f.target(), v1alpha1.BackupLeaseAnnotation+"=LEASE", v1alpha1.BackupMaxAgeAnnotation+"=25h"),
		"nothing shows whether backups are taken")}
}

// storeSet judges whether the cluster's object sets a store for the backups of the sidecars.
func (f *Facts) storeSet() []Finding {
	_, kind := f.Owner.Object()
	if f.Etcd.Err != nil {
		return []Finding{unknown("the "+kind, f.Etcd.Err)}
	}
	if f.Etcd.Value != nil && f.Etcd.Value.Spec.Backup.Store != nil {
		return []Finding{{Level: Unknown, Message: "a backup store is set and " + f.Owner.Membership().ManagerName + " has not reported on backups yet"}}
	}
	return []Finding{warning(f.change("", "set FIELD", flavour.Store), "the %s has no backup store: lost data can't be restored", kind)}
}

func backupsSucceed(f *Facts) []Finding {
	if f.Cluster.Err != nil {
		return []Finding{unknown("the cluster's conditions", f.Cluster.Err)}
	}
	c := f.Cluster.Value.Cluster.BackupReady
	fix := f.backupCure()
	switch c.Value() {
	case policy.Absent:
		return notApplicable("the state of backups is not known")
	case policy.True:
		return ok("%s", c.Reason)
	case policy.False:
		return []Finding{failure(fix, "BackupReady is False (%s)%s", c.Reason, f.backupMessage())}
	case policy.Unknown:
	}
	if c.Status != policy.Unknown {
		return []Finding{{Level: Unknown, Message: sprintf("BackupReady was last confirmed %s ago, which proves nothing", []any{format.Age(c.Age)}), Fix: f.Command("check", "--only operator")}}
	}
	return []Finding{warning(fix, "BackupReady is Unknown (%s)%s: if it stays so, backups are not being taken", c.Reason, f.backupMessage())}
}

// backupCure returns how backups succeed again: the sidecar takes one, or the job of the cluster's owner
// renews its Lease.
func (f *Facts) backupCure() string {
	if f.Owner.Product().BackupRestore {
		return f.Command("snapshot save", "--via backup-restore")
	}
	if lease := f.Owner.Annotations[v1alpha1.BackupLeaseAnnotation]; lease != "" {
		return f.kubectl("get lease " + lease + " -o yaml")
	}
	return f.Command("snapshot save")
}

// backupMessage returns what etcd-druid reports about backups, behind a colon.
func (f *Facts) backupMessage() string {
	if f.Etcd.Value == nil {
		return ""
	}
	for _, c := range f.Etcd.Value.Status.Conditions {
		if c.Type == druidv1alpha1.ConditionTypeBackupReady && c.Message != "" {
			return ": " + c.Message
		}
	}
	return ""
}

// How old backups may be: a daily one has two hours to be written, a delta
// three periods and a minute for clocks that differ.
const (
	dailyLimit   = 26 * time.Hour
	deltaPeriods = 3
	deltaSlack   = time.Minute
)

func backupsRecent(f *Facts) []Finding {
	if found, is := f.druid(); !is {
		return found
	}
	if f.Etcd.Value.Spec.Backup.Store == nil || f.Size() == 0 {
		return notApplicable("etcd-druid takes no backups of this cluster")
	}
	if f.Leases.Err != nil {
		return []Finding{unknown("the leases", f.Leases.Err)}
	}
	etcd := f.Etcd.Value
	full, hasFull := f.renewal(druidv1alpha1.GetFullSnapshotLeaseName(etcd.ObjectMeta))
	delta, hasDelta := f.renewal(druidv1alpha1.GetDeltaSnapshotLeaseName(etcd.ObjectMeta))
	fix := f.Command("snapshot save", "--via backup-restore")
	var found []Finding
	switch {
	case !hasFull:
		found = append(found, warning(fix, "no full snapshot has been written yet"))
	case full > dailyLimit && (etcd.Spec.Backup.FullSnapshotSchedule == nil || daily(*etcd.Spec.Backup.FullSnapshotSchedule)):
		found = append(found, warning(fix, "the last full snapshot is %s old", format.Age(full)))
	}
	if period := etcd.Spec.Backup.DeltaSnapshotPeriod; period != nil && period.Duration > 0 && hasDelta {
		if limit := deltaPeriods*period.Duration + deltaSlack; delta > limit {
			found = append(found, failure(fix, "the last delta snapshot is %s old, and one is due every %s", format.Age(delta), format.Age(period.Duration)))
		}
	}
	switch {
	case len(found) > 0:
		return found
	case hasDelta:
		return ok("full %s ago, delta %s ago", format.Age(full), format.Age(delta))
	}
	return ok("full %s ago", format.Age(full))
}

// renewal returns how long ago a lease was renewed, false where it never was.
func (f *Facts) renewal(name string) (time.Duration, bool) {
	i := slices.IndexFunc(f.Leases.Value, func(l coordinationv1.Lease) bool { return l.Name == name })
	if i < 0 || f.Leases.Value[i].Spec.RenewTime == nil {
		return 0, false
	}
	return f.At.Sub(f.Leases.Value[i].Spec.RenewTime.Time), true
}

// daily reports whether a cron schedule fires at least once every day: day, month and
// weekday are all open. It is false for a schedule that it can't read.
func daily(schedule string) bool {
	fields := strings.Fields(schedule)
	if len(fields) == 1 {
		return fields[0] == "@daily" || fields[0] == "@hourly" || fields[0] == "@midnight"
	}
	open := func(s string) bool { return s == "*" || s == "*/1" || s == "?" }
	return len(fields) == 5 && open(fields[2]) && open(fields[3]) && open(fields[4])
}
