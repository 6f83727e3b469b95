// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
)

// inOther moves an object to namespace other.
func inOther[T client.Object](o T) T {
	o.SetNamespace("other")
	return o
}

func withPort(node int32, change func(*corev1.ServiceSpec)) func(*corev1.ServiceSpec) {
	return func(s *corev1.ServiceSpec) {
		change(s)
		s.ClusterIP, s.Ports = "10.96.0.8", []corev1.ServicePort{{Port: 2380, NodePort: node}}
	}
}

// TestForms has a row per form of a peer URL. With its pod there, it is found or may be there. With the pod gone,
// there is none only if all that may have an address of that form was read, and with less to read it is not known.
func TestForms(t *testing.T) {
	t.Parallel()
	type objects = observetest.Objects
	main1 := func() *corev1.Pod { return podOf("main-1", "10.0.0.7") }
	x := func(change ...func(*corev1.Pod)) *corev1.Pod { return podOf("x", "10.0.0.7", change...) }
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.1.0.1"}, {Type: corev1.NodeHostName, Address: "cp-1.example.com"}}
	main, etcd1 := of("main", selecting("main-1")), of("etcd-1", selecting("x"))
	ip := of("ip", func(s *corev1.ServiceSpec) {
		selecting("x")(s)
		s.ClusterIP, s.ClusterIPs, s.ExternalIPs = "10.96.0.7", []string{"10.96.0.7", "fd00::7"}, []string{"192.0.2.1"}
	})
	ip.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "192.0.2.2"}, {Hostname: "etcd.lb.example.com"}}
	port := of("port", withPort(32380, selecting("x")))
	domain := podOf("y", "10.0.0.8", command("etcd", "--initial-advertise-peer-urls=http://y.main.team.svc.example.com:2380"))
	const outside = "may be a name outside of the cluster"
	for _, row := range []struct {
		form string
		url  string
		pod  *corev1.Pod
		rest objects
		// there is the pod that is found, or why it may be there. gone is why it may be there when it is gone.
		there, gone string
		// barred are the kinds of which each must be read.
		barred []string
	}{
		{"POD.SERVICE.NAMESPACE.svc", "main-1.main.team.svc:2380", main1(), nil, "main-1", "", []string{"PodList team"}},
		{"POD.SERVICE.NAMESPACE.svc.DOMAIN", "main-1.main.team.svc.cluster.local:2380", main1(), nil, "main-1", "", []string{"PodList team"}},
		{"POD.SERVICE.NAMESPACE", "main-1.main.team:2380", main1(), objects{main}, "main-1", "", []string{"PodList team", "ServiceList team"}},
		{"POD.SERVICE", "main-1.main:2380", main1(), objects{main}, "main-1", "", []string{"PodList team", "ServiceList team"}},
		{"SERVICE.NAMESPACE.svc", "etcd-1.team.svc:2380", x(), objects{etcd1}, "x", "", []string{"PodList team", "ServiceList team"}},
		{"SERVICE.NAMESPACE", "etcd-1.team:2380", x(), objects{etcd1}, "x", "", []string{"PodList team", "ServiceList team"}},
		{"SERVICE", "etcd-1:2380", x(), objects{etcd1}, "x", "", []string{"PodList team", "ServiceList team"}},
		{"in another namespace, POD.SERVICE.NAMESPACE.svc", "main-1.main.other.svc:2380", inOther(main1()), nil, "pod other/main-1", "", []string{"PodList other", "ServiceList other"}},
		{"in another namespace, POD.SERVICE.NAMESPACE", "main-1.main.other:2380", inOther(main1()), objects{inOther(main.DeepCopy())}, "pod other/main-1", "", []string{"PodList other", "ServiceList other"}},
		{"in another namespace, SERVICE.NAMESPACE", "etcd-1.other:2380", inOther(x()), objects{inOther(etcd1.DeepCopy())}, "pod other/x", "", []string{"PodList other", "ServiceList other"}},
		{"in another namespace, a Service without a selector", "etcd-1.other.svc:2380", inOther(x()), objects{inOther(of("etcd-1", func(*corev1.ServiceSpec) {}))}, "Service other/etcd-1", "Service other/etcd-1", nil},
		{"in another namespace, a host of a Service without a selector", "m.etcd-1.other.svc:2380", inOther(x()), objects{inOther(of("etcd-1", func(*corev1.ServiceSpec) {}))}, "Service other/etcd-1", "Service other/etcd-1", nil},
		{"in another namespace, a Service that is gone", "etcd-1.other:2380", inOther(x()), nil, outside, outside, nil},
		{"the IP of a pod", "10.0.0.7:2380", x(), nil, "x", "", []string{"PodList team", "PodList .", "ServiceList team", "ServiceList .", "NodeList"}},
		{"the IP of a pod by DNS", "10-0-0-7.team.pod:2380", x(), nil, "x", "", []string{"PodList team"}},
		{"the IP of a pod of another namespace", "10.0.0.7:2380", inOther(x()), nil, "pod other/x", "", []string{"PodList .", "ServiceList .", "NodeList"}},
		{"the IP of a Service", "10.96.0.7:2380", x(), objects{ip}, "x", "", []string{"PodList team", "PodList .", "ServiceList .", "NodeList"}},
		{"the other IP of a Service", "[fd00:0::7]:2380", x(), objects{ip}, "x", "", []string{"NodeList"}},
		{"an external IP of a Service", "192.0.2.1:2380", x(), objects{ip}, "x", "", []string{"NodeList"}},
		{"the IP of a load balancer", "192.0.2.2:2380", x(), objects{ip}, "x", "", []string{"NodeList"}},
		{"the name of a load balancer", "etcd.lb.example.com:2380", x(), objects{ip}, "x", "", []string{"NodeList"}},
		{"the name of a load balancer of another namespace", "etcd.lb.example.com:2380", inOther(x()), objects{inOther(ip.DeepCopy())}, outside, outside, nil},
		{"the IP of a Service of another namespace", "10.96.0.7:2380", inOther(x()), objects{inOther(ip.DeepCopy())}, "Service other/ip", "Service other/ip", nil},
		{"a port of the nodes", "10.1.0.1:32380", x(), objects{port, node}, "x", "", []string{"PodList team", "PodList .", "ServiceList .", "NodeList"}},
		{"a port of the nodes, by a node's name", "cp-1.example.com:32380", x(), objects{port, node}, "x", "", []string{"NodeList"}},
		{"a port of the nodes, of another namespace", "10.1.0.1:32380", inOther(x()), objects{inOther(port.DeepCopy()), node}, "Service other/port", "Service other/port", nil},
		{"a port like one of the nodes", "10.0.0.9:32380", x(), objects{port, node}, "", "", []string{"NodeList"}},
		{"the IP of a node", "10.1.0.1:2380", x(onHost("2380")), objects{node}, "x", "", []string{"PodList .", "ServiceList .", "NodeList"}},
		{"the name of a node", "n1:2380", x(onHost("2380")), objects{node}, "x", "", []string{"PodList .", "ServiceList .", "NodeList"}},
		{"another name of a node", "cp-1.example.com:2380", x(onHost("2380")), objects{node}, "x", "", []string{"NodeList"}},
		{"the IP of a node, of another namespace", "10.1.0.1:2380", inOther(x(onHost("2380"))), objects{node}, "pod other/x", "", []string{"PodList .", "NodeList"}},
		{"a name of one label", "vm1:2380", x(), objects{node}, outside, outside, nil},
		{"a name of two labels", "example.org:2380", x(), objects{node}, outside, outside, nil},
		{"a name of three labels", "db.example.org:2380", x(), objects{node}, outside, outside, nil},
		{"a name of four labels", "etcd.db.example.org:2380", x(), objects{node}, outside, outside, nil},
		{"the first label is a pod's name", "main-1.example.org:2380", main1(), nil, "main-1", outside, nil},
		{"the domain of another cluster", "main-1.main.team.svc.clusterset.local:2380", main1(), objects{domain}, "main-1", "another Kubernetes cluster", nil},
		{"a domain that a pod of the namespace has", "main-1.main.team.svc.example.com:2380", main1(), objects{domain}, "main-1", "", []string{"PodList team"}},
		{"a loopback address", "127.0.0.1:2380", x(), nil, "each pod itself", "each pod itself", nil},
		{"no IP by DNS", "a-b.team.pod:2380", x(), nil, outside, outside, nil},
		{"no address", "", x(), nil, "has no address", "has no address", nil},
	} {
		find := func(o objects, barredFrom ...string) string {
			r := &observe.Reader{Reader: barred{o, barredFrom}}
			found, err := PodsOf(t.Context(), r, "team", Peer{URLs: []string{"http://" + row.url}}, nil)
			if err != nil && len(found) == 0 {
				return err.Error()
			}
			return strings.Join(found, " ")
		}
		is := func(got, want string) bool { return strings.Contains(got, want) && (got == "") == (want == "") }
		if got := find(append(slices.Clone(row.rest), row.pod)); !is(got, row.there) {
			t.Errorf("%s: %q; want %q", row.form, got, row.there)
		}
		if got := find(row.rest); !is(got, row.gone) {
			t.Errorf("%s, without its pod: %q; want %q", row.form, got, row.gone)
		}
		for _, kind := range row.barred {
			if got := find(row.rest, kind); !strings.Contains(got, "barred") {
				t.Errorf("%s, without its pod and %s: %q; want that it is not known", row.form, kind, got)
			}
		}
	}
}

// TestPodsInPortions holds that all pods of all namespaces are read, in whatever portions the API server has them.
func TestPodsInPortions(t *testing.T) {
	t.Parallel()
	r := &observe.Reader{Reader: inPortions{observetest.Objects{podOf("a", "10.0.0.1"), inOther(podOf("x", "10.0.0.7"))}}}
	if _, err := PodsOf(t.Context(), r, "team", Peer{URLs: []string{"http://10.0.0.7:2380"}}, nil); err == nil || !strings.Contains(err.Error(), "pod other/x") {
		t.Error(err)
	}
}

// inPortions lists the pods of all namespaces one by one.
type inPortions struct{ observetest.Objects }

func (p inPortions) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var by client.ListOptions
	by.ApplyOptions(opts)
	pods, is := list.(*corev1.PodList)
	if err := p.Objects.List(ctx, list, opts...); err != nil || !is || by.Namespace != "" {
		return err
	}
	if by.Continue == "" {
		pods.Items, pods.Continue = pods.Items[:1], "more"
	} else {
		pods.Items = pods.Items[1:]
	}
	return nil
}
