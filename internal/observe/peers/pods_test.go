// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
)

// podOf is a pod of etcd with an IP, on node n1 with the IP 10.1.0.1.
func podOf(name, ip string, change ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, Labels: map[string]string{"app": name}}}
	pod.Spec.NodeName = "n1"
	pod.Spec.Containers = []corev1.Container{{Name: "etcd", Image: "etcd", Command: []string{"etcd", "--name=" + name}}}
	pod.Status.PodIP, pod.Status.PodIPs = ip, []corev1.PodIP{{IP: ip}}
	pod.Status.HostIP = "10.1.0.1"
	for _, c := range change {
		c(pod)
	}
	return pod
}

// onHost puts a pod into its node's network, where its etcd has a port for peers.
func onHost(port string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.HostNetwork, pod.Status.PodIPs = true, []corev1.PodIP{{IP: "10.1.0.1"}}
		pod.Spec.Containers[0].Command = append(pod.Spec.Containers[0].Command, "--listen-peer-urls=http://10.1.0.1:"+port)
	}
}

func command(argv ...string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.Containers[0].Command = argv }
}

func of(name string, change func(*corev1.ServiceSpec)) *corev1.Service {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}}
	change(&s.Spec)
	return s
}

func selecting(app string) func(*corev1.ServiceSpec) {
	return func(s *corev1.ServiceSpec) {
		s.ClusterIP, s.Selector = corev1.ClusterIPNone, map[string]string{"app": app}
	}
}

func alias(to string) func(*corev1.ServiceSpec) {
	return func(s *corev1.ServiceSpec) { s.Type, s.ExternalName = corev1.ServiceTypeExternalName, to }
}

// endpoints are those of a Service without a selector, each as HOSTNAME/IP.
func endpoints(service string, all ...string) *discoveryv1.EndpointSlice {
	s := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: service, Labels: map[string]string{discoveryv1.LabelServiceName: service}}}
	for _, one := range all {
		host, ip, _ := strings.Cut(one, "/")
		s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{Hostname: &host, Addresses: []string{ip}})
	}
	return s
}

// barred can't read objects of some types, each as TYPE, or TYPE NAMESPACE. with no namespace for all of them.
type barred struct {
	observetest.Objects

	from []string
}

func (b barred) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if err := b.refuse(obj, key.Namespace); err != nil {
		return err
	}
	return b.Objects.Get(ctx, key, obj, opts...)
}

func (b barred) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var by client.ListOptions
	by.ApplyOptions(opts)
	if err := b.refuse(list, by.Namespace); err != nil {
		return err
	}
	return b.Objects.List(ctx, list, opts...)
}

func (b barred) refuse(o any, namespace string) error {
	for _, from := range b.from {
		if is := fmt.Sprintf("%T %s.", o, namespace); strings.Contains(is, from) {
			return errors.New("barred from " + from)
		}
	}
	return nil
}

// TestPodsOf has a row per way in which a peer URL names a pod. A pod is found, or it is not known whether one
// is; only where neither holds, no pod runs the member.
func TestPodsOf(t *testing.T) {
	t.Parallel()
	type objects = observetest.Objects
	main1 := podOf("main-1", "10.0.0.7")
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeExternalIP, Address: "192.0.2.7"}, {Type: corev1.NodeHostName, Address: "cp-1.example.com"}}
	for _, row := range []struct {
		name    string
		host    string
		objects objects
		barred  []string
		want    string
		unknown string
	}{
		{"its own Service", "main-1.main.team.svc", objects{main1}, nil, "main-1", ""},
		{"another Service", "main-1.other.team.svc.cluster.local", objects{main1, of("other", selecting("x"))}, nil, "main-1", ""},
		{"another Service, in short", "main-1.other", objects{main1}, nil, "main-1", ""},
		{"with the final dot", "MAIN-1.main.team.svc.cluster.local.", objects{main1}, nil, "main-1", ""},
		{"no pod of the name", "main-2.main.team.svc", objects{main1}, nil, "", ""},
		{"a host name and subdomain", "m.sub.team.svc", objects{podOf("x", "10.0.0.7", func(p *corev1.Pod) { p.Spec.Hostname, p.Spec.Subdomain = "m", "sub" })}, nil, "x", ""},
		{"a Service of one pod", "etcd-1.team.svc", objects{main1, of("etcd-1", selecting("main-1"))}, nil, "main-1", ""},
		{"a headless Service of another selector", "other.team.svc", objects{main1, podOf("y", "10.0.0.8"), of("other", selecting("y"))}, nil, "y", ""},
		{"an ExternalName for a pod", "etcd-1.team.svc", objects{main1, of("etcd-1", alias("main-1.main.team.svc.cluster.local"))}, nil, "main-1", ""},
		{"an ExternalName for one for a pod", "etcd-1", objects{main1, of("etcd-1", alias("b.team.svc")), of("b", alias("main-1.main.team.svc"))}, nil, "main-1", ""},
		{"ExternalNames in a circle", "a.team.svc", objects{main1, of("a", alias("b.team.svc")), of("b", alias("a.team.svc"))}, nil, "", "too many other names"},
		{"an ExternalName for another host", "etcd-1", objects{main1, of("etcd-1", alias("db.example.org"))}, nil, "", "db.example.org is of no Service and no node"},
		{"an ExternalName for an IP of a pod by DNS", "etcd-1", objects{main1, of("etcd-1", alias("10-0-0-7.team.pod.cluster.local"))}, nil, "main-1", ""},
		{"a Service without a selector", "etcd-1", objects{main1, of("etcd-1", func(*corev1.ServiceSpec) {}), endpoints("etcd-1", "/10.0.0.7")}, nil, "main-1", "no selector"},
		{"a name of a Service without a selector", "m1.main.team.svc", objects{main1, podOf("y", "10.0.0.8"), of("main", func(*corev1.ServiceSpec) {}), endpoints("main", "m1/10.0.0.7", "m2/10.0.0.8")}, nil, "main-1", "no selector"},
		{"endpoints that can't be read", "etcd-1", objects{main1, of("etcd-1", func(*corev1.ServiceSpec) {})}, []string{"EndpointSliceList"}, "", "barred"},
		{"its IP", "10.0.0.7", objects{main1}, nil, "main-1", ""},
		{"its IPv6 in another form", "fd00:0:0::7", objects{podOf("six", "fd00::7")}, nil, "six", ""},
		{"its IP by DNS", "10-0-0-7.team.pod", objects{main1}, nil, "main-1", ""},
		{"an IP of none", "10.0.0.99", objects{main1}, nil, "", ""},
		{"the IP of its node", "10.1.0.1", objects{podOf("h", "", onHost("2380"))}, nil, "h", ""},
		{"the IP of its node, and another port", "10.1.0.1", objects{podOf("events", "", onHost("2381"))}, nil, "", ""},
		{"the IP of its node, for a pod with its own", "10.1.0.1", objects{main1}, nil, "", ""},
		{"the IP of its node, by a port of the node", "10.1.0.1", objects{podOf("p", "10.0.0.7", func(p *corev1.Pod) {
			p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 2380, ContainerPort: 2380}}
		})}, nil, "p", ""},
		{"another IP of its node", "192.0.2.7", objects{podOf("h", "", onHost("2380")), node}, nil, "h", ""},
		{"another IP of its node, which can't be read", "192.0.2.7", objects{podOf("h", "", onHost("2380"))}, []string{"*v1.Node"}, "", "barred"},
		{"the name of its node", "n1", objects{podOf("h", "", onHost("2380"))}, nil, "h", ""},
		{"another name of its node", "cp-1.example.com", objects{podOf("h", "", onHost("2380")), node}, nil, "h", ""},
		{"the name of its node, and a file that can't be read", "n1", objects{podOf("h", "", onHost("2380"), command("etcd", "--config-file=/etc/etcd.yaml"))}, nil, "", "may have the address n1"},
		{"the name of its node, and only hints", "n1", objects{podOf("h", "", onHost("2380"), command("/launcher"))}, nil, "", "may run etcd"},
		{"the name of its node, and another program", "n1", objects{podOf("h", "", onHost("2380"), command("/proxy"), func(p *corev1.Pod) { p.Spec.Containers[0].Image, p.Spec.Containers[0].Name = "proxy", "proxy" }), node}, nil, "", ""},
		{"another namespace", "main-1.main.other.svc", objects{main1, inOther(podOf("main-1", "10.0.0.9"))}, nil, "", "that of pod other/main-1"},
		{"another namespace without such a pod", "main-1.main.other.svc", objects{main1}, nil, "", ""},
		{"another namespace that can't be read", "main-1.main.other.svc", objects{main1}, []string{"PodList other"}, "", "barred"},
		{"a pod that has ended", "main-1.main", objects{of("main", selecting("main-1")), podOf("main-1", "10.0.0.7", func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })}, nil, "", ""},
		{"pods that can't be listed", "main-1.main", objects{main1}, []string{"PodList"}, "", "barred"},
		{"variables that can't be read now", "10.0.0.99", objects{podOf("x", "10.0.0.7", func(p *corev1.Pod) {
			p.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}}}
		})}, []string{"ConfigMap"}, "", "barred"},
	} {
		host := row.host
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		r := &observe.Reader{Reader: barred{row.objects, row.barred}}
		found, err := PodsOf(t.Context(), r, "team", Peer{Name: "of another name", URLs: []string{"http://" + host + ":2380"}}, map[string]bool{"member": true})
		why := ""
		if err != nil {
			why = err.Error()
		}
		if strings.Join(found, " ") != row.want || !strings.Contains(why, row.unknown) || (why == "") != (row.unknown == "") {
			t.Errorf("%s: %q, not known: %s; want %q, %q", row.name, found, why, row.want, row.unknown)
		}
	}
}
