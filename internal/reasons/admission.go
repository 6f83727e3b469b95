// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package reasons

import "github.com/kubectl-etcd/kubectl-etcd/policy"

var admission policy.ReasonList

// The reasons of admission decisions: in audit annotations and in kubectl_etcd_admission_total.
var (
	NotEtcd = admission.Add("NotEtcd",
		"The object belongs to no etcd cluster.",
		policy.NoAction)
	NoPolicy = admission.Add("NoPolicy",
		"No EtcdTopologyPolicy selects the cluster.",
		"If the members should be spread, apply a policy. policy.yaml of the release (manifests/samples/policy.yaml of a checkout) selects all clusters.")
	OptedOut = admission.Add("OptedOut",
		"The owner opted out with an annotation.",
		"To opt in again, remove the annotation kubectl-etcd.dev/topology-policy=opt-out.")
	NoLongerEtcd = admission.Add("NoLongerEtcd",
		"The workload had a disruption budget, and is declared to run no etcd now, or nothing declares or shows any more that it does. Its budget is held for the settle time, and is then released.",
		"If it runs etcd, set the annotation kubectl-etcd.dev/etcd on the workload to the name of the container that does.")
	Unreadable = admission.Add("Unreadable",
		"The object in the request could not be read. It passes without changes.",
		"The warning has the details. If it remains, report it.")
	Undecided = admission.Add("Undecided",
		"etcd-webhook came to no decision because of an internal error. The outcome shows whether the request passed unchanged or was refused.",
		"Report it with the error in the log of etcd-webhook.")
	NoSelector = admission.Add("NoSelector",
		"No selector distinguishes the cluster's pods from other pods, so the webhook can't spread them. The pod passes without changes.",
		"Give the StatefulSet a selector that matches only its own pods.")
	NothingToDo = admission.Add("NothingToDo",
		"The object needs no changes.",
		policy.NoAction)
	Covered = admission.Add("Covered",
		"The pod already has terms for these topology keys.",
		policy.NoAction)
	Spread = admission.Add("Spread",
		"The webhook added the terms that the policy requires.",
		policy.NoAction)
	OwnWrite = admission.Add("OwnWrite",
		"The write is from the controller itself and passes.",
		policy.NoAction)
	DisruptionDisabled = admission.Add("DisruptionDisabled",
		"The policy doesn't maintain disruption budgets.",
		"If it should, set spec.disruption.enabled to true.")
	AnotherBudgetKept = admission.Add("AnotherBudgetKept",
		"The controller maintains another disruption budget for this cluster.",
		"Delete one of the two. With both, evictions fail.")
	GuardOff = admission.Add("GuardOff",
		"The policy doesn't guard evictions, or deletions, of members' pods.",
		"If it should not, set spec.disruption.evictions or spec.disruption.deletes to Warn or Enforce.")
	KubernetesDeletes = admission.Add("KubernetesDeletes",
		"A controller of Kubernetes, a kubelet or the scheduler deletes the pod. Such deletions are never refused.",
		policy.NoAction)
	BudgetBusy = admission.Add("BudgetBusy",
		"The eviction could not be recorded, because other clients wrote the disruption budget at the same time. It is refused with status 429.",
		"Wait. kubectl drain retries by itself.")
	EvictionNotRecorded = admission.Add("EvictionNotRecorded",
		"The eviction was judged and allowed, but could not be recorded on a disruption budget. Other evictions don't know of it until the pod is being deleted.",
		"The warning has the details. Check that etcd-webhook may patch poddisruptionbudgets, and that a budget selects the members.")
	ScaleGuardOff = admission.Add("ScaleGuardOff",
		"The policy doesn't guard the replicas of the cluster.",
		"If it should, set spec.scale.guard to Enforce.")
	RolloutGuardOff = admission.Add("RolloutGuardOff",
		"The policy doesn't hold rollouts of the cluster.",
		"If it should, set spec.rollout.guard to Enforce.")
	RolloutNotHeld = admission.Add("RolloutNotHeld",
		"The write restarts no pod that is not held already, or the author's strategy restarts no pod.",
		policy.NoAction)
	RestartRecordKept = admission.Add("RestartRecordKept",
		"The write removes the record of a restart that was requested, as etcd-druid's reconciliation does. It is restored: the controller would restart the members once more without it, or could not report that the request is withdrawn.",
		"To withdraw a request, remove the annotation kubectl-etcd.dev/restart-request. If an operator writes the StatefulSet, remove only that one.")
	PluginWrite = admission.Add("PluginWrite",
		"The write is a step of kubectl etcd, which holds the pods itself.",
		policy.NoAction)
	UninstallReleased = admission.Add("UninstallReleased",
		"The deletion uninstalls etcd-webhook. Before it took effect, all rollouts that were held got their author's update strategy, and the StatefulSet's controller continues them.",
		policy.NoAction)
	UninstallIncomplete = admission.Add("UninstallIncomplete",
		"The deletion uninstalls etcd-webhook, and something that it set stays: a rollout could not be released or its cluster is not well, or disruption budgets keep their number.",
		"When the deletion is complete and all members are ready, run kubectl etcd webhook uninstall. It restores what is left.")
)
