// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// Order is the command for an action, empty for none. It has the same form as the fixes of checks.
//
//nolint:gocyclo // one case an action
func (f *Facts) Order(a recovery.Action) string {
	switch a.Do {
	case recovery.Nothing:
		return ""
	case recovery.Wait:
		return f.Command("diagnose")
	case recovery.InspectPod:
		return f.inspect(a.Member)
	case recovery.InspectOperator:
		return "kubectl get pods -A -l app.kubernetes.io/name=etcd-druid" + f.Flags
	case recovery.Check:
		return f.Command("check", "--only quorum,members")
	case recovery.CompareClusters:
		return f.Command("check", "--only Q005")
	case recovery.ListMembers:
		return f.Command("member list")
	case recovery.ListSnapshots:
		return f.Command("snapshot list")
	case recovery.SaveSnapshot:
		return f.Command("snapshot save", f.Owner.Name+".db")
	case recovery.Recover:
		return f.Command("recover", lostFlag(a.Lost)...)
	case recovery.TakeBackup:
		return f.backupCure()
	case recovery.CureAlarm:
		return f.alarmCure()
	case recovery.Resume:
		return cmp.Or(f.resumes(), f.Command("status"))
	case recovery.Undo:
		return cmp.Or(f.undoes(), f.Command("status"))
	case recovery.Reconcile:
		return f.annotate(f.Owner.Product().ReconcileBy)
	case recovery.EndSuspension:
		return f.annotate(f.Owner.Product().SuspendBy + "-")
	case recovery.RestoreTraffic:
		return f.restoreTraffic()
	case recovery.ScaleBack, recovery.Promote, recovery.RestartPod, recovery.Replace, recovery.RemoveMember, recovery.DeleteLease, recovery.CorrectPeerURL:
	}
	return f.changeOrder(a)
}

// ruleCommand is a command in a text of the recovery rule, which knows no cluster: it has NAME in place of the target, and
// FILE in place of a file.
var ruleCommand = regexp.MustCompile(`kubectl etcd(?: [a-z-]+)+( FILE)?( NAME)?( FILE)?`)

// Why returns the reason for an action, with the commands for this cluster. Their file is the one in which a command for
// this cluster saves a snapshot, unless only the user knows it.
func (f *Facts) Why(a recovery.Action) string {
	target, saved := strings.TrimPrefix(f.Command(""), "kubectl etcd  "), f.Owner.Name+".db"
	return ruleCommand.ReplaceAllStringFunc(a.Why, func(command string) string {
		command = strings.Replace(command, "NAME FILE", "NAME "+saved, 1)
		if a.Do == recovery.SaveSnapshot {
			command = strings.Replace(command, "FILE", saved, 1)
		}
		return strings.Replace(command, "NAME", target, 1)
	})
}

// lostFlag returns the flag that declares members to be lost, none for no members.
func lostFlag(lost []string) []string {
	if len(lost) == 0 {
		return nil
	}
	return []string{"--lost " + strings.Join(lost, ",")}
}

// changeOrder returns the command for an action that changes members or their objects.
func (f *Facts) changeOrder(a recovery.Action) string {
	switch a.Do { //nolint:exhaustive // Order has the others
	case recovery.ScaleBack:
		return f.scaleBack(a.Member)
	case recovery.Promote:
		if l, is := f.memberOf(a.Member); is {
			return f.promote(l)
		}
	case recovery.RestartPod:
		return f.orContinue(f.Command("restart", "--member "+a.Member))
	case recovery.Replace:
		return f.replace(a.Member)
	case recovery.RemoveMember:
		if l, is := f.memberOf(a.Member); is {
			return f.toRemove(l)
		}
	case recovery.CorrectPeerURL:
		if l, is := f.memberOf(a.Member); is {
			return f.peerURLCure(l)
		}
	case recovery.DeleteLease:
		return f.kubectl("delete lease " + f.memberPrefix() + a.Member)
	}
	return f.Command("member list")
}

// alarmCure returns the fix of the first alarm.
func (f *Facts) alarmCure() string {
	if found := alarms(f); len(found) > 0 && found[0].Fix != "" {
		return found[0].Fix
	}
	return f.Command("check", "--only D001")
}

// memberOf returns the member of etcd's list that the recovery rule knows by a name.
func (f *Facts) memberOf(name string) (etcd.Listed, bool) {
	for _, l := range f.Survey.Value.List {
		if pod := f.podOf(l); pod == name || pod == "" && f.nameOf(l) == name {
			return l, true
		}
	}
	return etcd.Listed{}, false
}

// inspect returns the command that shows why a pod is not Ready, or why it is not there.
func (f *Facts) inspect(name string) string {
	if pod := f.pod(name); pod != nil {
		return f.describe(pod)
	}
	if how := f.inspectElsewhere(name); how != "" {
		return how
	}
	if f.Owner.StatefulSet == "" {
		return f.Command("status")
	}
	return f.kubectl("describe statefulset " + cmp.Or(f.Owner.StatefulSetOf(name), f.Owner.StatefulSet))
}

// scaleBack returns the command with which voters that were scaled away run again, and that of the named one
// where it has a workload of its own.
func (f *Facts) scaleBack(name string) string {
	replicas := f.LastVoters
	if ways := f.waysBack(); len(ways) > 0 && name == "" {
		if f.LastVoters > f.Size() && f.returns(f.LastVoters) {
			ways = append(ways, wayBack{workload: "statefulset/" + f.Owner.StatefulSet, replicas: f.LastVoters})
		}
		return f.startAgain(ways)
	}
	for _, l := range f.Survey.Value.List {
		workload, with := f.stoppedAs(l)
		switch {
		case workload == "statefulset/"+f.Owner.StatefulSet && !f.Owner.Spans():
			replicas = max(replicas, with)
		case workload != "" && f.nameOf(l) == name:
			return f.kubectl("scale", workload, fmt.Sprintf("--replicas %d", with))
		}
	}
	return f.kubectl("scale", "statefulset/"+f.Owner.StatefulSet, fmt.Sprintf("--replicas %d", replicas))
}
