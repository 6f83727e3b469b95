// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Annotations that users set on the owner of an etcd cluster: the Etcd, or the StatefulSet if
// there is no Etcd.
const (
	// TopologyPolicyAnnotation with the value OptOut excludes a cluster from every
	// EtcdTopologyPolicy. Other values are ignored.
	TopologyPolicyAnnotation = "kubectl-etcd.dev/topology-policy"
	// OptOut is the value of TopologyPolicyAnnotation that excludes a cluster.
	OptOut = "opt-out"
)

// Annotations that users set on a workload, on its pod template, or on a pod.
const (
	// EtcdAnnotation declares which container of the pods runs etcd: its value is that
	// container's name. The value false declares that no container does. It is set on an Etcd,
	// a StatefulSet, Deployment, DaemonSet or ReplicaSet, on its pod template, or on a pod that
	// nothing controls, and takes precedence over what the pods show. Of two declarations, that
	// of the workload is used. A name that no container of the pods has is an error, which
	// `kubectl etcd list --all` shows. It declares nothing.
	EtcdAnnotation = "kubectl-etcd.dev/etcd"
	// NotEtcd is the value of EtcdAnnotation for pods that don't run etcd.
	NotEtcd = "false"
)

// RestartRequestAnnotation requests a restart of members, one at a time, that etcd-webhook's controller carries out.
// It is set on a StatefulSet, or on the Etcd if one has that. Its value is "rolling" for all members or the name of one
// pod, and may be followed by a space and any text. Another value requests another restart. Without the annotation,
// no further member is restarted.
const RestartRequestAnnotation = "kubectl-etcd.dev/restart-request"

// RestartRolling is the value of RestartRequestAnnotation that requests a restart of all members.
const RestartRolling = "rolling"

// RestartedPodsAnnotation on a StatefulSet records the request that the controller carries out, and the UIDs of the
// pods from when it began. Without pods, the request is done. The budget of an Etcd has a copy, after the UID of the
// StatefulSet. No other client should write it.
const RestartedPodsAnnotation = "kubectl-etcd.dev/restart-pods"

// Annotations that this project writes.
const (
	// SpreadAnnotation on a member's pod records which terms admission added and why. The
	// controller reads it. No other client should write it.
	SpreadAnnotation = "kubectl-etcd.dev/spread"
)

// Annotations of the dry run that tests admission.
const (
	// ProbeAnnotation on a pod that is created in a dry run requests an answer from
	// etcd-webhook. On any other object it has no effect.
	ProbeAnnotation = "kubectl-etcd.dev/webhook-probe"
	// ProbeAnswerAnnotation is the answer, on the returned pod and in a warning: replica=POD
	// version=... outcome=... reason=... policy=...
	ProbeAnswerAnnotation = "kubectl-etcd.dev/webhook-answer"
)

// RestartAnnotation on a StatefulSet marks that kubectl etcd restart --strategy coordinated stops and
// starts all of its members: the phase, the number of replicas, and a time. They count, and not those
// of the restart's journal. While it is there, etcd-webhook refuses writes of the replicas that don't
// change it in the same write, as each step of the restart does. The command removes it at the end.
const RestartAnnotation = "kubectl-etcd.dev/restart"

// RestoreAnnotation on a StatefulSet marks that kubectl etcd snapshot restore or kubectl etcd recover has stopped
// its members, and has not ended. It has the time of the last step that wrote the replicas, the number of replicas
// from before, and Delete if a scale-in deleted claims. They count, and not those of the restore's journal. While it
// is there, etcd-webhook refuses writes of the replicas that don't change it in the same write, and a cut of client
// traffic goes on after its end. The command removes it at the end.
const RestoreAnnotation = "kubectl-etcd.dev/restore"

// MemberChangeAnnotation on a StatefulSet marks that kubectl etcd scale or kubectl etcd member replace has changed its pod
// template or its update strategy, and has not ended. It has, as JSON, how both were before: the update strategy, and
// the values that the command edits of the container that runs etcd. They are restored, and not those of the journal. The
// command removes it at the end.
const MemberChangeAnnotation = "kubectl-etcd.dev/member-change"

// RestoreOfLabel on a helper pod of a restore is the UID of the cluster's owner. A pod without it, or with
// another UID, is not deleted.
const RestoreOfLabel = "kubectl-etcd.dev/restore-of"

// KeptDataAnnotation on a StatefulSet or an Etcd records the old data that restores of the cluster keep: the
// time of each restore, and until when its old data is kept. On a PersistentVolume it records the
// time of the restore that kept the volume, the UID of the cluster's owner, and the reclaim policy from before.
const KeptDataAnnotation = "kubectl-etcd.dev/kept-data"
