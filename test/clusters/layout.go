// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-etcd/kubectl-etcd/test/testbed/machine"
)

// chart is the release of Bitnami's chart whose names the flavour keeps.
const chart = "etcd-12.0.20"

// bucketsDir is the directory for backups in what a testbed's nodes share.
const bucketsDir = "buckets"

// layout is a cluster's spec with its place: what the templates are filled with,
// and the one place that knows what each flavour calls its objects.
type layout struct {
	Spec

	Namespace, Name string
}

// objects are the cluster's manifests but for its certificates.
func (l layout) objects() ([]*unstructured.Unstructured, error) {
	if l.Plain.Like != "" {
		return render(string(l.Plain.Like)+".yaml", l)
	}
	return render(string(l.Flavour)+".yaml", l)
}

// Full is the name of the StatefulSet. Charts put their own name into it where the
// release's doesn't have it.
func (l layout) Full() string {
	if l.Flavour == Bitnami && !strings.Contains(l.Name, "etcd") {
		return l.Name + "-etcd"
	}
	return l.Name + l.product().full
}

// PeerService is the headless Service.
func (l layout) PeerService() string {
	switch l.Flavour {
	case Druid:
		return l.Name + "-peer"
	case Bitnami:
		return l.Full() + "-headless"
	case Plain:
	}
	return l.Full() + l.product().peer
}

// ClientService is the Service that clients dial.
func (l layout) ClientService() string {
	if l.Flavour == Bitnami {
		return l.Full()
	}
	if p, ok := products[l.Plain.Like]; ok {
		return l.Full() + p.client
	}
	return l.Name + "-client"
}

// PeerDomain is what a member's host name is prefixed to.
func (l layout) PeerDomain() string {
	return fmt.Sprintf("%s.%s.svc.cluster.local", l.PeerService(), l.Namespace)
}

// MemberLabels are the labels by which the members' pods are selected.
func (l layout) MemberLabels() map[string]string {
	switch l.Flavour {
	case Druid:
		return map[string]string{
			"app.kubernetes.io/managed-by": "etcd-druid",
			"app.kubernetes.io/part-of":    l.Name,
			"app.kubernetes.io/component":  "etcd-statefulset",
		}
	case Bitnami:
		return map[string]string{
			"app.kubernetes.io/name":      "etcd",
			"app.kubernetes.io/instance":  l.Name,
			"app.kubernetes.io/component": "etcd",
		}
	case Plain:
	}
	if labels := l.product().labels; labels != nil {
		return labels(l.Name)
	}
	return map[string]string{"app": l.Name}
}

// ChartLabels are the labels of everything that Bitnami's chart makes.
func (l layout) ChartLabels() map[string]string {
	labels := l.MemberLabels()
	labels["app.kubernetes.io/managed-by"] = "Helm"
	labels["app.kubernetes.io/version"] = l.Version
	labels["helm.sh/chart"] = chart
	return labels
}

// ReleaseAnnotations are Helm's marks of ownership, and the caller's annotations.
func (l layout) ReleaseAnnotations() map[string]string {
	annotations := map[string]string{
		"meta.helm.sh/release-name":      l.Name,
		"meta.helm.sh/release-namespace": l.Namespace,
	}
	maps.Copy(annotations, l.Annotations)
	return annotations
}

// Affinity keeps members apart as the spec requires: strictly over Apart, or softly
// over nodes, which is the chart's default.
func (l layout) Affinity() *corev1.Affinity {
	term := corev1.PodAffinityTerm{
		LabelSelector: &metav1.LabelSelector{MatchLabels: l.MemberLabels()},
		TopologyKey:   l.Apart,
	}
	if l.Apart != "" {
		return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term},
		}}
	}
	term.TopologyKey = corev1.LabelHostname
	return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: term}},
	}}
}

// Scheme of client and peer URLs.
func (l layout) Scheme() string {
	if l.TLS {
		return "https"
	}
	return "http"
}

// Members are the names of the pods.
func (l layout) Members() []string {
	names := make([]string, l.Size)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%d", l.Full(), i)
	}
	return names
}

// InitialCluster is the member list with which a StatefulSet's members start.
func (l layout) InitialCluster() string {
	urls := make([]string, l.Size)
	for i, name := range l.Members() {
		urls[i] = fmt.Sprintf("%s=%s://%s.%s:2380", name, l.Scheme(), name, l.PeerDomain())
	}
	return strings.Join(urls, ",")
}

// EtcdFlags are the arguments of a plain StatefulSet's members. Both the kubelet
// and a shell fill in the pod's name.
func (l layout) EtcdFlags() []string {
	pod := "$(POD_NAME)"
	if l.Plain.Shell {
		pod = "${POD_NAME}"
	}
	flags := []string{
		"--name=" + pod,
		"--data-dir=/data/etcd",
		fmt.Sprintf("--listen-peer-urls=%s://0.0.0.0:2380", l.Scheme()),
		fmt.Sprintf("--listen-client-urls=%s://0.0.0.0:2379", l.Scheme()),
		"--listen-metrics-urls=http://0.0.0.0:8080",
		fmt.Sprintf("--initial-advertise-peer-urls=%s://%s.%s:2380", l.Scheme(), pod, l.PeerDomain()),
		fmt.Sprintf("--advertise-client-urls=%s://%s.%s:2379", l.Scheme(), pod, l.PeerDomain()),
		"--initial-cluster-token=" + l.Namespace + "-" + l.Name,
		"--initial-cluster-state=new",
		"--initial-cluster=" + l.InitialCluster(),
		// Dozens of members share a small machine: as etcd's tuning guide has it for
		// slow ones, half of what they do at rest is saved.
		"--heartbeat-interval=250",
		"--election-timeout=1500",
	}
	if l.TLS {
		flags = append(flags,
			"--client-cert-auth=true",
			"--cert-file=/etc/etcd/certs/server/tls.crt",
			"--key-file=/etc/etcd/certs/server/tls.key",
			"--trusted-ca-file=/etc/etcd/certs/server/ca.crt",
			"--peer-client-cert-auth=true",
			"--peer-cert-file=/etc/etcd/certs/peer/tls.crt",
			"--peer-key-file=/etc/etcd/certs/peer/tls.key",
			"--peer-trusted-ca-file=/etc/etcd/certs/peer/ca.crt",
		)
	}
	return flags
}

// LivePath is what a probe asks for whether etcd runs. Etcd 3.4 has it under no name
// of its own before its last releases; its metrics are there as long as it is.
func (l layout) LivePath() string {
	if l.Version == "3.4" {
		return "/metrics"
	}
	return "/livez"
}

// ReadyPath is what a probe asks for whether etcd can serve.
func (l layout) ReadyPath() string {
	if l.Version == "3.4" {
		return "/health"
	}
	return "/readyz"
}

// HealthCommand asks a chart's member whether it is healthy, with the certificate
// that it serves with: the chart's own does the same.
func (l layout) HealthCommand() []string {
	return []string{
		"/usr/local/bin/etcdctl", "endpoint", "health", "--endpoints=https://localhost:2379", "--command-timeout=8s",
		"--cacert=/opt/bitnami/etcd/certs/client/ca.crt",
		"--cert=/opt/bitnami/etcd/certs/client/tls.crt",
		"--key=/opt/bitnami/etcd/certs/client/tls.key",
	}
}

// Container is the name of the cluster's bucket. A dot can't be part of a
// namespace's name, so no two clusters share one.
func (l layout) Container() string { return l.Namespace + "." + l.Name }

// Buckets is the directory that holds the stores of all clusters, as nodes see it.
func (l layout) Buckets() string { return machine.SharedPath + "/" + bucketsDir }
