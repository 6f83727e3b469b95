// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Distribution is the product that an etcd cluster comes from: which operator
// or chart made it, and so who may change it and how.
type Distribution string

// The distributions. Names of charts stand for what is made in their image, too.
const (
	DistributionDruid        Distribution = "etcd-druid"
	DistributionEtcdOperator Distribution = "etcd-operator"
	DistributionCozystack    Distribution = "cozystack"
	DistributionAenix        Distribution = "aenix"
	DistributionBitnami      Distribution = "bitnami"
	DistributionKamaji       Distribution = "kamaji"
	DistributionHyperShift   Distribution = "hypershift"
	DistributionK0smotron    Distribution = "k0smotron"
	DistributionVCluster     Distribution = "vcluster"
	DistributionKarmada      Distribution = "karmada"
	DistributionKarmadaChart Distribution = "karmada-chart"
	DistributionKubeadm      Distribution = "kubeadm"
	// DistributionPlain is a StatefulSet that somebody wrote.
	DistributionPlain Distribution = "plain"
	// DistributionPods is pods that no StatefulSet and no known operator keeps.
	DistributionPods Distribution = "pods"
)

// byController tells the distribution by the kind that controls a StatefulSet.
var byController = map[schema.GroupKind]Distribution{
	{Group: "operator.etcd.io", Kind: "EtcdCluster"}:                        DistributionEtcdOperator,
	{Group: "etcd.aenix.io", Kind: "EtcdCluster"}:                           DistributionAenix,
	{Group: "hypershift.openshift.io", Kind: "HostedControlPlane"}:          DistributionHyperShift,
	{Group: "k0smotron.io", Kind: "Cluster"}:                                DistributionK0smotron,
	{Group: "controlplane.cluster.x-k8s.io", Kind: "K0smotronControlPlane"}: DistributionK0smotron,
	{Group: "operator.karmada.io", Kind: "Karmada"}:                         DistributionKarmada,
	{Group: etcdKind.Group, Kind: etcdKind.Kind}:                            DistributionDruid,
	{Group: cozystackCluster.Group, Kind: cozystackCluster.Kind}:            DistributionCozystack,
}

// cozystackCluster is the kind whose members are pods without a StatefulSet.
var cozystackCluster = schema.GroupVersionKind{Group: "etcd-operator.cozystack.io", Version: "v1alpha2", Kind: "EtcdCluster"}

// byLabel tells it by a label that its manifests carry on the StatefulSet or
// on its pods. Charts are renamed and copied; of those that are not here, the
// environment may still tell.
var byLabel = []struct {
	key, value string
	is         Distribution
}{
	{"app.kubernetes.io/managed-by", "karmada-operator", DistributionKarmada},
	{"app.kubernetes.io/name", "kamaji-etcd", DistributionKamaji},
	{"application", "kamaji-etcd", DistributionKamaji},
	{"app", "vcluster-etcd", DistributionVCluster},
	{"app", "k0smotron", DistributionK0smotron},
}

// byEnv tells it by a variable that its start script reads.
var byEnv = map[string]Distribution{
	"ETCD_ON_K8S":       DistributionBitnami,
	"MY_STS_NAME":       DistributionBitnami,
	"KARMADA_ETCD_NAME": DistributionKarmadaChart,
}

// distributionOf tells where a workload comes from, by its controller, which
// may be nil, the labels of it and of its pods, and what its containers are given.
func distributionOf(controller *metav1.OwnerReference, spec *corev1.PodSpec, labels ...map[string]string) Distribution {
	if controller != nil {
		if d, known := byController[groupKindOf(controller)]; known {
			return d
		}
	}
	for _, l := range byLabel {
		if slices.ContainsFunc(labels, func(set map[string]string) bool { return set[l.key] == l.value }) {
			return l.is
		}
	}
	for i := range spec.Containers {
		for _, e := range spec.Containers[i].Env {
			if d, known := byEnv[e.Name]; known {
				return d
			}
		}
	}
	return DistributionPlain
}
