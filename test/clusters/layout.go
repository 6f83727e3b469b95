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

// chart is the release of Bitnami's chart. The flavour uses the names of this release.
const chart = "etcd-12.0.20"

// bucketsDir is the directory for backups below the directory that the testbed's nodes share.
const bucketsDir = "buckets"

// layout is a cluster's spec with its namespace and name. It is the input of the templates, and
// the only code that knows each flavour's names of objects.
type layout struct {
	Spec

	Namespace, Name string
}

// objects returns the cluster's manifests without its certificates.
func (l layout) objects() ([]*unstructured.Unstructured, error) {
	if l.Plain.Like != "" {
		return render(string(l.Plain.Like)+".yaml", l)
	}
	return render(string(l.Flavour)+".yaml", l)
}

// Full returns the name of the StatefulSet. A chart adds its own name unless the release's name
// contains it.
func (l layout) Full() string {
	if l.Flavour == Bitnami && !strings.Contains(l.Name, "etcd") {
		return l.Name + "-etcd"
	}
	return l.Name + l.product().full
}

// PeerService returns the name of the headless Service.
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

// ClientService returns the name of the Service for clients.
func (l layout) ClientService() string {
	if l.Flavour == Bitnami {
		return l.Full()
	}
	if p, ok := products[l.Plain.Like]; ok {
		return l.Full() + p.client
	}
	return l.Name + "-client"
}

// PeerDomain returns the domain of the members' host names.
func (l layout) PeerDomain() string {
	return fmt.Sprintf("%s.%s.svc.cluster.local", l.PeerService(), l.Namespace)
}

// MemberLabels returns the labels that select the members' pods.
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

// ChartLabels returns the labels of everything that Bitnami's chart creates.
func (l layout) ChartLabels() map[string]string {
	labels := l.MemberLabels()
	labels["app.kubernetes.io/managed-by"] = "Helm"
	labels["app.kubernetes.io/version"] = l.Version
	labels["helm.sh/chart"] = chart
	return labels
}

// ReleaseAnnotations returns Helm's ownership annotations, and the caller's annotations.
func (l layout) ReleaseAnnotations() map[string]string {
	annotations := map[string]string{
		"meta.helm.sh/release-name":      l.Name,
		"meta.helm.sh/release-namespace": l.Namespace,
	}
	maps.Copy(annotations, l.Annotations)
	return annotations
}

// Affinity returns the anti-affinity of the members as the spec requires: a required one over
// Apart, or a preferred one over nodes, which is the chart's default.
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

// Scheme returns the scheme of client and peer URLs.
func (l layout) Scheme() string {
	if l.TLS {
		return "https"
	}
	return "http"
}

// Members returns the names of the pods.
func (l layout) Members() []string {
	names := make([]string, l.Size)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%d", l.Full(), i)
	}
	return names
}

// InitialCluster returns the member list with which a StatefulSet's members start.
func (l layout) InitialCluster() string {
	urls := make([]string, l.Size)
	for i, name := range l.Members() {
		urls[i] = fmt.Sprintf("%s=%s://%s.%s:2380", name, l.Scheme(), name, l.PeerDomain())
	}
	return strings.Join(urls, ",")
}

// EtcdFlags returns the arguments of a plain StatefulSet's members. The kubelet and a shell can
// both expand the pod's name.
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
		// Dozens of members share a small machine. These values, from etcd's tuning guide for
		// slow machines, halve the load of idle members.
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

// LivePath returns the path that a liveness probe requests. Before its last releases, etcd 3.4
// has no health path for this, but it serves its metrics while it runs.
func (l layout) LivePath() string {
	if l.Version == "3.4" {
		return "/metrics"
	}
	return "/livez"
}

// ReadyPath returns the path that a readiness probe requests.
func (l layout) ReadyPath() string {
	if l.Version == "3.4" {
		return "/health"
	}
	return "/readyz"
}

// HealthCommand returns a command that asks a chart's member for its health, with the
// certificate that the member serves with. The chart has the same command.
func (l layout) HealthCommand() []string {
	return []string{
		"/usr/local/bin/etcdctl", "endpoint", "health", "--endpoints=https://localhost:2379", "--command-timeout=8s",
		"--cacert=/opt/bitnami/etcd/certs/client/ca.crt",
		"--cert=/opt/bitnami/etcd/certs/client/tls.crt",
		"--key=/opt/bitnami/etcd/certs/client/tls.key",
	}
}

// Container returns the name of the cluster's bucket. A namespace's name can't contain a dot, so
// no two clusters share a bucket.
func (l layout) Container() string { return l.Namespace + "." + l.Name }

// Buckets returns the directory with the stores of all clusters, as nodes see it.
func (l layout) Buckets() string { return machine.SharedPath + "/" + bucketsDir }
