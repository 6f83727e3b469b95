// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// reason is a word that Events, conditions, annotations, audit logs and metrics
// carry, for whoever wants to know what it stands for.
type reason struct {
	Name string
	// From is who gives it, as the list is grouped: "Budget rule".
	From string
	// Doc is what it means.
	Doc string
	// Do is what to Do about it; every reason says something, if only that
	// nothing needs to be done.
	Do string
}

const noAction = "Nothing needs to be done."

// AllReasons are those of the rules first, in the order of their tables, then
// those of the programs.
func AllReasons() []reason {
	var all []reason
	for _, r := range reasons.Reasons() {
		do := cmp.Or(ruleRemedies[r.Reason], "See kubectl etcd status NAME and kubectl etcd check NAME.")
		all = append(all, reason{Name: r.Reason, From: r.Rule + " rule", Doc: r.Doc, Do: do})
	}
	return slices.Concat(all, budgetReasons(), factReasons(), policyReasons(), webhookReasons(), trafficReasons(), pluginReasons(), checkReasons())
}

// findReason is case-insensitive: people type what they remember.
func findReason(name string) (reason, bool) {
	all := AllReasons()
	i := slices.IndexFunc(all, func(r reason) bool { return strings.EqualFold(r.Name, name) })
	if i < 0 {
		return reason{}, false
	}
	return all[i], true
}

// ruleRemedies are what to do about the reasons of policy's rules, where what
// they mean doesn't say so already. The rules know facts and no commands.
var ruleRemedies = map[string]string{
	budget.SingleMember:          "Expect an interruption when its node is drained, or scale to three members: kubectl etcd scale NAME --replicas 3.",
	policy.ClientTrafficCut:      "End the cut when the work is done: kubectl etcd restore-client-traffic NAME. It ends by itself at the time that kubectl etcd status shows.",
	policy.FactsStale:            "See whether the members run and renew their leases: kubectl etcd status NAME, kubectl get leases. Leases are renewed by the members themselves, so look for nodes that are cut off.",
	budget.FactsStaleTooLong:     "Find out why nothing is heard of the members before you drain anything: kubectl etcd check NAME.",
	policy.BackupFailing:         "Mend the backups: kubectl etcd status NAME shows since when they fail, the backup container's log says why. Drains that wait go on by themselves.",
	budget.BackupFailingTooLong:  "Take a snapshot now, kubectl etcd snapshot save NAME, and mend the backups.",
	policy.AllReady:              noAction,
	budget.QuorumAtRisk:          "Bring a member back before anything else: kubectl etcd status NAME shows which are down and why. Don't delete pods or volumes of the members that still run.",
	policy.MemberDown:            "Look at the member that is down: kubectl etcd status NAME, then kubectl logs of its pod. If its data is lost, kubectl etcd member replace POD.",
	budget.PodNotReady:           "Wait a moment; if it stays, see why the pod's readiness probe fails: kubectl describe pod.",
	budget.MemberNotReady:        "Wait a moment; if it stays, see why the member doesn't renew its lease: the pod's logs, and kubectl etcd status NAME.",
	policy.ConditionFalse:        "Wait for the operator to see what the leases show; if it stays, look at etcd-druid's logs.",
	policy.BackupUnknown:         "See whether snapshots are still taken: kubectl etcd status NAME, and the backup container's log.",
	budget.EvenSize:              "Scale to an odd number: kubectl etcd scale NAME --replicas N.",
	budget.TwoMembers:            "Scale to three members: kubectl etcd scale NAME --replicas 3.",
	spread.NoPlaces:              "Compare the pod's nodeSelector, affinity and tolerations with kubectl get nodes --show-labels.",
	spread.NoZones:               "Label the nodes with topology.kubernetes.io/zone, or set the policy's topology to Hostname.",
	spread.OneZone:               "Add nodes in other zones, or accept it: set the policy's topology to Hostname.",
	spread.MembersExceedHosts:    "Add nodes, or scale down to at most as many members as there are nodes.",
	spread.MembersExceedZones:    "Set the policy's form to TopologySpread to say the same, or add a zone.",
	spread.ZonesTooSmall:         "Add nodes to the zone that is short of them.",
	spread.NodesWithoutZone:      "Label those nodes with topology.kubernetes.io/zone.",
	spread.OwnTerm:               "Nothing, if the term is meant. Take it out of the pod template to get the policy's.",
	spread.VolumeNowhere:         "Compare the PersistentVolume's nodeAffinity with the nodes; the node may be gone for good. Then kubectl etcd member replace POD.",
	spread.VolumeUnplaced:        "Use a storage class with volumeBindingMode WaitForFirstConsumer for new clusters.",
	spread.VolumeZoneTaken:       "Replace the member when all are well, so that it gets a volume elsewhere: kubectl etcd member replace POD --force.",
	policy.QuorumKept:            noAction,
	membership.QuorumWouldBeLost: "kubectl etcd status NAME shows which members are down, and why.",
	policy.NoQuorum:              "kubectl etcd status NAME shows which members are down, and why. Don't delete pods or volumes.",
	policy.NoSuchMember:          "See what is there now, kubectl etcd member list NAME, and run the command again.",
	membership.VoterDown:         "kubectl etcd status NAME shows why. If its data is lost: kubectl etcd member replace POD.",
	policy.LearnerPresent:        "kubectl etcd member list NAME shows it; kubectl etcd member promote or remove it.",
	membership.StrangerMember:    "kubectl etcd member list NAME shows it; kubectl etcd member remove takes it out.",
	policy.CuresMember:           noAction,
	policy.CatchingUp:            "Wait. kubectl etcd status NAME shows how far it is behind.",
	maintenance.LeadsAlready:     noAction,
	maintenance.SpaceFree:        "kubectl etcd alarm disarm NAME.",
	maintenance.CuresNoSpace:     noAction,
	maintenance.DatabaseFull:     "kubectl etcd defrag NAME does the whole cure; status shows what is left.",
	spread.VolumeNodeTaken:       "Replace the member when all are well, so that it gets a volume elsewhere: kubectl etcd member replace POD --force.",
}
