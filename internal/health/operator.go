// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"slices"
	"strings"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func operatorChecks() []Check {
	return []Check{
		{
			ID: "O001", Category: Operator, Title: "etcd-druid has reconciled the current spec",
			Doc:  "The check reads whether etcd-druid has reconciled the last change of the Etcd's spec. If etcd-druid doesn't reconcile automatically, it waits for an annotation. Until then, a change of the spec has no effect.",
			Cure: "At a time of little traffic, annotate the Etcd with " + druidv1alpha1.DruidOperationAnnotation + "=" + druidv1alpha1.DruidOperationReconcile + ". This may restart the members.",
			run:  reconciled,
		},
		{
			ID: "O002", Category: Operator, Title: "reconciliation is not suspended",
			Doc:  "While the Etcd has the annotation suspend-etcd-spec-reconcile, etcd-druid applies no change. The annotation is meant for a repair, and users often don't remove it afterwards.",
			Cure: "Remove the annotation when the repair is done.",
			run:  notSuspended,
		},
		{
			ID: "O003", Category: Operator, Title: "the operator's last operation succeeded",
			Doc:  "The check reads the last operation that etcd-druid reports, and its errors.",
			Cure: "Read the errors. They name the object that etcd-druid could not write or read.",
			run:  lastOperation,
		},
		{
			ID: "O004", Category: Operator, Title: "the operator's conditions are fresh",
			Doc:  "etcd-druid confirms its conditions every few seconds. A condition that is more than two minutes old proves nothing: etcd-druid is down, or can't write.",
			Cure: "Check the Deployment etcd-druid, and read its log.",
			run:  conditionsFresh,
		},
		{
			ID: "O005", Category: Operator, Title: "the operator's conditions are good",
			Doc:  "The check reads the conditions Ready, AllMembersReady, AllMembersUpdated, DataVolumesReady, ClusterIDMismatch and LastSnapshotCompactionSucceeded of the Etcd. R002 reads BackupReady.",
			Cure: "Read the checks on quorum and members first, because they are fresher.",
			run:  conditionsGood,
		},
		{
			ID: "O006", Category: Operator, Title: "the operator protects its objects",
			Doc:  "While the Etcd has the annotation disable-etcd-component-protection, every user with the permissions may change or delete the cluster's StatefulSet, Services and leases without etcd-druid. The annotation is meant for a repair.",
			Cure: "Remove the annotation when the repair is done.",
			run:  protected,
		},
	}
}

// druid guards a check that judges an Etcd.
func (f *Facts) druid() ([]Finding, bool) {
	switch {
	case f.Etcd.Err != nil:
		return []Finding{unknown("the Etcd", f.Etcd.Err)}, false
	case f.Etcd.Value == nil:
		return notApplicable("etcd-druid doesn't manage the cluster"), false
	}
	return nil, true
}

// annotate returns the command that annotates the object from which the operator makes the cluster.
func (f *Facts) annotate(what string) string { return f.kubectl("annotate " + f.object() + " " + what) }

// object returns that object as an argument of kubectl.
func (f *Facts) object() string {
	typed, _ := f.Owner.Object()
	return strings.Replace(typed, " ", "/", 1)
}

// lostObject returns how to get an object back: the operator creates it again; for clusters without such an
// operator it is the order.
func (f *Facts) lostObject(order string) string {
	if f.Owner.Product().ReconcileBy != "" {
		return f.reconcile()
	}
	return order
}

// reconcile returns how the operator gets to reconcile the spec. While that is suspended, the annotation has no
// effect; where it is set already, the object shows what the operator does.
func (f *Facts) reconcile() string {
	e, by := f.Etcd.Value, f.Owner.Product().ReconcileBy
	switch {
	case by == "": // the operator reconciles it without being asked
		return f.kubectl("describe " + f.object())
	case e == nil:
		return f.annotate(by)
	}
	_, suspended := e.Annotations[druidv1alpha1.SuspendEtcdSpecReconcileAnnotation]
	_, asked := e.Annotations[druidv1alpha1.DruidOperationAnnotation]
	switch {
	case suspended && f.Cluster.Value.Cluster.TrafficCut:
		return f.restoreTraffic()
	case suspended:
		return f.annotate(druidv1alpha1.SuspendEtcdSpecReconcileAnnotation + "-")
	case asked:
		return f.kubectl("describe " + f.target())
	}
	return f.annotate(by)
}

func reconciled(f *Facts) []Finding {
	if found, is := f.druid(); !is {
		return found
	}
	e := f.Etcd.Value
	var seen int64
	if e.Status.ObservedGeneration != nil {
		seen = *e.Status.ObservedGeneration
	}
	if seen >= e.Generation {
		return ok("generation %d", e.Generation)
	}
	_, asked := e.Annotations[druidv1alpha1.DruidOperationAnnotation]
	_, suspended := e.Annotations[druidv1alpha1.SuspendEtcdSpecReconcileAnnotation]
	if asked && !suspended {
		return []Finding{info("", "generation %d of the spec is being reconciled, %d was last", e.Generation, seen)}
	}
	return []Finding{warning(f.reconcile(),
		"the spec is at generation %d, druid has reconciled %d: the change has no effect yet", e.Generation, seen)}
}

func notSuspended(f *Facts) []Finding {
	if found, is := f.druid(); !is {
		return found
	}
	if _, suspended := f.Etcd.Value.Annotations[druidv1alpha1.SuspendEtcdSpecReconcileAnnotation]; !suspended {
		return nil
	}
	if f.Cluster.Value.Cluster.TrafficCut {
		return []Finding{info("", "reconciliation is suspended while client traffic is cut")}
	}
	return []Finding{warning(f.annotate(druidv1alpha1.SuspendEtcdSpecReconcileAnnotation+"-"), "reconciliation is suspended by an annotation: no change of the spec has an effect")}
}

func lastOperation(f *Facts) []Finding {
	if found, is := f.druid(); !is {
		return found
	}
	op := f.Etcd.Value.Status.LastOperation
	if op == nil {
		return notApplicable("etcd-druid has not acted on this Etcd yet")
	}
	if op.State != druidv1alpha1.LastOperationStateError {
		return ok("%s %s", op.Type, op.State)
	}
	var errs []string
	for _, e := range f.Etcd.Value.Status.LastErrors {
		errs = append(errs, string(e.Code)+": "+e.Description)
	}
	return []Finding{failure(f.reconcile(),
		"%s failed %s ago: %s", op.Type, format.Age(f.At.Sub(op.LastUpdateTime.Time)), cmp.Or(strings.Join(errs, "; "), op.Description))}
}

func conditionsFresh(f *Facts) []Finding {
	if found, is := f.druid(); !is {
		return found
	}
	oldest := time.Duration(0)
	var which []string
	for _, c := range f.Etcd.Value.Status.Conditions {
		// Compaction's condition is only written when a compaction ends, and at 0
		// replicas druid writes none.
		if c.Type == druidv1alpha1.ConditionTypeLastSnapshotCompactionSucceeded || c.Reason == reasons.NotChecked.Name() {
			continue
		}
		age := f.At.Sub(c.LastUpdateTime.Time)
		oldest = max(oldest, age)
		if age > policy.EvidenceLimit {
			which = append(which, string(c.Type))
		}
	}
	switch {
	case len(which) > 0:
		return []Finding{warning("kubectl get pods -A -l app.kubernetes.io/name=etcd-druid"+f.Flags, "%s last confirmed up to %s ago: etcd-druid is down, or can't write", policy.List(which)+map[bool]string{true: " was", false: " were"}[len(which) == 1], format.Age(oldest))}
	case len(f.Etcd.Value.Status.Conditions) == 0:
		return notApplicable("etcd-druid has reported no conditions yet")
	}
	return ok("at most %s old", format.Age(oldest))
}

func conditionsGood(f *Facts) []Finding {
	if found, is := f.druid(); !is {
		return found
	}
	if f.Size() == 0 {
		return notApplicable("the cluster is scaled to 0")
	}
	var found []Finding
	for _, c := range f.Etcd.Value.Status.Conditions {
		good := druidv1alpha1.ConditionTrue
		if c.Type == druidv1alpha1.ConditionTypeClusterIDMismatch {
			good = druidv1alpha1.ConditionFalse
		}
		if c.Type == druidv1alpha1.ConditionTypeBackupReady || c.Status == good || f.At.Sub(c.LastUpdateTime.Time) > policy.EvidenceLimit {
			continue
		}
		report := failure
		minor := []druidv1alpha1.ConditionType{druidv1alpha1.ConditionTypeAllMembersUpdated, druidv1alpha1.ConditionTypeLastSnapshotCompactionSucceeded}
		if c.Status == druidv1alpha1.ConditionUnknown || slices.Contains(minor, c.Type) {
			report = warning
		}
		found = append(found, report(f.kubectl("describe "+f.target()), "%s is %s (%s): %s", c.Type, c.Status, c.Reason, c.Message))
	}
	return found
}

func protected(f *Facts) []Finding {
	if found, is := f.druid(); !is {
		return found
	}
	if _, off := f.Etcd.Value.Annotations[druidv1alpha1.DisableEtcdComponentProtectionAnnotation]; off {
		return []Finding{warning(f.annotate(druidv1alpha1.DisableEtcdComponentProtectionAnnotation+"-"), "an annotation disables the protection of the cluster's objects")}
	}
	return nil
}
