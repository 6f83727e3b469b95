// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// reason explains the name of a reason in Events, conditions, annotations, audit logs and metrics.
type reason struct {
	Name string
	// From is the component or rule that sets it, such as "Budget rule". The list is grouped by it.
	From string
	// Doc is the meaning.
	Doc string
	// Do is what the user can do about it, or noAction.
	Do string
}

const noAction = policy.NoAction

// Reasons returns the reasons of the rules in the order of their tables, and then those of the
// programs.
func Reasons() []reason {
	var all []reason
	for _, topic := range reasons.Rules() {
		all = append(all, fromTopic(topic)...)
	}
	return slices.Concat(all, budgetReasons(), factReasons(), policyReasons(), webhookReasons(), trafficReasons(), pluginReasons(), checkReasons())
}

// findReason ignores the case of the name.
func findReason(name string) (reason, bool) {
	all := Reasons()
	i := slices.IndexFunc(all, func(r reason) bool { return strings.EqualFold(r.Name, name) })
	if i < 0 {
		return reason{}, false
	}
	return all[i], true
}

// ruleRemedies are the remedies for reasons of rules. They are not in package policy, because
// rules don't depend on the plugin's commands.
var ruleRemedies = map[string]string{
	policy.SingleMember:         "Expect an interruption when its node is drained, or scale to three members: kubectl etcd scale NAME --replicas 3.",
	policy.ClientTrafficCut:     "When the work is done, end the cut: kubectl etcd restore-client-traffic NAME. Otherwise, it ends at the time that kubectl etcd status shows.",
	policy.FactsStale:           "Check whether the members run and renew their leases: kubectl etcd status NAME, kubectl get leases. The members renew the leases themselves, so also check for disconnected nodes.",
	policy.FactsStaleTooLong:    "Before you drain a node, find out why there are no current facts about the members: kubectl etcd check NAME.",
	policy.BackupFailing:        "Repair the backups. kubectl etcd status NAME shows since when they fail, and the backup container's log shows why. Drains that wait then continue.",
	policy.BackupFailingTooLong: "Take a snapshot now with kubectl etcd snapshot save NAME, and repair the backups.",
	policy.AllReady:             noAction,
	policy.QuorumAtRisk:         "First, bring a member back. kubectl etcd status NAME shows which members are down, and why. Don't delete pods or volumes of the members that still run.",
	policy.MemberDown:           "Inspect the member that is down: kubectl etcd status NAME, then kubectl logs of its pod. If its data is lost, kubectl etcd member replace POD.",
	policy.PodNotReady:          "Wait a moment. If it remains, find out why the pod's readiness probe fails: kubectl describe pod.",
	policy.MemberNotReady:       "Wait a moment. If it remains, find out why the member doesn't renew its lease: read the pod's logs, and kubectl etcd status NAME.",
	policy.ConditionFalse:       "Wait until the operator detects the state of the leases. If it remains, read etcd-druid's logs.",
	policy.BackupUnknown:        "Check whether snapshots are still taken: kubectl etcd status NAME, and the backup container's log.",
	policy.EvenSize:             "Scale to an odd number: kubectl etcd scale NAME --replicas N.",
	policy.TwoMembers:           "Scale to three members: kubectl etcd scale NAME --replicas 3.",
	policy.NoPlaces:             "Compare the pod's nodeSelector, affinity and tolerations with kubectl get nodes --show-labels.",
	policy.NoZones:              "Label the nodes with topology.kubernetes.io/zone, or set the policy's topology to Hostname.",
	policy.OneZone:              "Add nodes in other zones, or set the policy's topology to Hostname to accept it.",
	policy.MembersExceedHosts:   "Add nodes, or scale down to at most as many members as there are nodes.",
	policy.MembersExceedZones:   "Set the policy's form to TopologySpread, or add a zone.",
	policy.ZonesTooSmall:        "Add nodes to the zone that has too few.",
	policy.NodesWithoutZone:     "Label those nodes with topology.kubernetes.io/zone.",
	policy.OwnTerm:              "If the term is intended, nothing. To get the policy's term, remove yours from the pod template.",
	policy.VolumeNowhere:        "Compare the PersistentVolume's nodeAffinity with the nodes. If the node is gone permanently, kubectl etcd member replace POD.",
	policy.VolumeUnplaced:       "Use a storage class with volumeBindingMode WaitForFirstConsumer for new clusters.",
	policy.VolumeZoneTaken:      "When all members are healthy, replace the member, so that it gets a volume in another zone: kubectl etcd member replace POD --force.",
	policy.QuorumKept:           noAction,
	policy.QuorumWouldBeLost:    "kubectl etcd status NAME shows which members are down, and why.",
	policy.NoQuorum:             "kubectl etcd status NAME shows which members are down, and why. Don't delete pods or volumes.",
	policy.NoSuchMember:         "List the members with kubectl etcd member list NAME, and run the command again.",
	policy.VoterDown:            "kubectl etcd status NAME shows why. If its data is lost, kubectl etcd member replace POD.",
	policy.LearnerPresent:       "List it with kubectl etcd member list NAME. Then promote it with kubectl etcd member promote, or remove it.",
	policy.StrangerMember:       "List it with kubectl etcd member list NAME. Remove it with kubectl etcd member remove.",
	policy.CuresMember:          noAction,
	policy.CatchingUp:           "Wait. kubectl etcd status NAME shows how far it is behind.",
	policy.LeadsAlready:         noAction,
	policy.SpaceFree:            "kubectl etcd alarm disarm NAME.",
	policy.CuresNoSpace:         noAction,
	policy.DatabaseFull:         "kubectl etcd defrag NAME does the complete repair. kubectl etcd status shows what remains.",
	policy.VolumeNodeTaken:      "When all members are healthy, replace the member, so that it gets a volume on another node: kubectl etcd member replace POD --force.",
}
