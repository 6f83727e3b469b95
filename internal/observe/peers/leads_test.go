// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
)

// urls are the flags of a member that listens for peers on one URL, and advertises others.
func urls(listen, advertise string) []string {
	return []string{"etcd", "--listen-peer-urls=" + listen, "--initial-advertise-peer-urls=" + advertise}
}

// memberOf is a pod of StatefulSet main, as its controller creates it.
func memberOf(name, ip string, change ...func(*corev1.Pod)) *corev1.Pod {
	own := func(p *corev1.Pod) {
		p.Spec.Hostname, p.Spec.Subdomain, p.Labels["set"] = name, "main", "main"
		p.Spec.Containers[0].Command = urls("http://0.0.0.0:2380", "http://"+name+".main.team.svc:2380")
	}
	return podOf(name, ip, append([]func(*corev1.Pod){own}, change...)...)
}

// ofIP is a pod that advertises its IP, which Kubernetes gives to it.
func ofIP(pod *corev1.Pod) {
	pod.Spec.Containers[0].Command = urls("http://0.0.0.0:2380", "http://$(IP):2380")
	pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}}}
}

func ofIPv6(pod *corev1.Pod) {
	ofIP(pod)
	pod.Spec.Containers[0].Command = urls("http://[::]:2380", "http://[$(IP)]:2380")
}

// TestLeadOf has a row per way in which a peer URL in etcd's list differs from what the pod of a member advertises,
// or is the same in another form.
func TestLeadOf(t *testing.T) {
	t.Parallel()
	type objects = observetest.Objects
	const own, fits = "http://main-2.main.team.svc:2380", ""
	main := of("main", selecting("main"))
	main.Spec.Selector = map[string]string{"set": "main"}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.1.0.1"}}
	peer := memberOf("main-1", "10.0.0.7")
	proxy := podOf("proxy", "10.0.0.8", func(p *corev1.Pod) {
		p.Spec.Containers[0].Image, p.Spec.Containers[0].Command = "haproxy", []string{"haproxy"}
	})
	lb := of("lb", selecting("main-2"))
	lb.Spec.ClusterIP = "10.96.0.7"
	lb.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "192.0.2.2"}, {Hostname: "etcd.lb.example.com"}}
	beside := func(port int32) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "tls", Ports: []corev1.ContainerPort{{ContainerPort: port}}})
		}
	}
	host := func(p *corev1.Pod) {
		onHost("2380")(p)
		p.Spec.Containers[0].Command = urls("http://10.1.0.1:2380", "http://10.1.0.1:2380")
	}
	onOther := func(p *corev1.Pod) {
		onHost("2380")(p)
		p.Spec.NodeName, p.Status.HostIP, p.Status.PodIPs = "n2", "10.1.0.2", []corev1.PodIP{{IP: "10.1.0.2"}}
		p.Spec.Containers[0].Command = urls("http://10.1.0.2:2380", "http://10.1.0.2:2380")
	}
	alias := func(p *corev1.Pod) {
		p.Spec.HostAliases = []corev1.HostAlias{{IP: "10.0.0.9", Hostnames: []string{"wrong"}}}
	}
	for _, row := range []struct {
		row    string
		listed string
		change []func(*corev1.Pod)
		rest   objects
		barred []string
		// wrong is why it does not lead to the pod, or why that is not known, in which case unknown is true.
		wrong   string
		unknown bool
	}{
		{row: "the same", listed: own, barred: []string{"List"}, wrong: fits},
		{row: "the same in another case, with a final dot", listed: "HTTP://Main-2.main.TEAM.svc.:2380", barred: []string{"List"}, wrong: fits},
		{row: "the same host in short", listed: "http://main-2.main:2380", wrong: fits},
		{row: "the same host in full", listed: "http://main-2.main.team.svc.cluster.local:2380", wrong: fits},
		{row: "the pod's IP", listed: "http://10.0.0.9:2380", wrong: fits},
		{row: "the pod's IP by DNS", listed: "http://10-0-0-9.team.pod:2380", wrong: fits},
		{row: "several, of which one leads there", listed: "http://wrong:2380," + own, wrong: fits},
		{row: "several, of which one leads there in another form", listed: "http://wrong:2380,http://10.0.0.9:2380", wrong: fits},
		{row: "several that are wrong", listed: "http://wrong:2380,http://main-1.main:2380", wrong: "host alias has the name wrong; main-1.main is the address of pod main-1"},
		{row: "another name", listed: "http://wrong:2380", wrong: "no Service and no host alias has the name wrong"},
		{row: "another name, and nodes can't be read", listed: "http://wrong:2380", barred: []string{"NodeList"}, wrong: "no Service and no host alias has the name wrong"},
		{row: "another name that is a node's", listed: "http://n1:2380", wrong: "that of node n1", unknown: true},
		{row: "another name that is a host alias", listed: "http://wrong:2380", change: []func(*corev1.Pod){alias}, wrong: "host alias wrong", unknown: true},
		{row: "a name outside of the cluster", listed: "http://etcd-2.example.com:2380", wrong: "outside of the cluster", unknown: true},
		{row: "another scheme", listed: "https://main-2.main.team.svc:2380", wrong: "pod main-2 listens for peers on http://0.0.0.0:2380"},
		{row: "another port", listed: "http://main-2.main.team.svc:2381", wrong: "pod main-2 listens for peers on http://0.0.0.0:2380"},
		{row: "another port, of a container beside", listed: "http://main-2.main.team.svc:2381", change: []func(*corev1.Pod){beside(2381)}, wrong: "another container", unknown: true},
		{row: "another port, and the listener is for a proxy", listed: "http://main-2.main.team.svc:2381", change: []func(*corev1.Pod){command(urls("http://127.0.0.1:2380", own)...)}, wrong: "another container", unknown: true},
		{row: "a port on which it listens and that it does not advertise", listed: "http://main-2.main.team.svc:2381", change: []func(*corev1.Pod){command(urls("http://0.0.0.0:2380,http://0.0.0.0:2381", own)...)}, wrong: fits},
		{row: "no listener is shown", listed: "http://main-2.main.team.svc:2381", change: []func(*corev1.Pod){command("etcd", "--initial-advertise-peer-urls="+own)}, wrong: "--listen-peer-urls", unknown: true},
		{row: "the host of another pod", listed: "http://main-1.main.team.svc:2380", wrong: "main-1.main.team.svc is the address of pod main-1"},
		{row: "the IP of another pod", listed: "http://10.0.0.7:2380", wrong: "10.0.0.7 is the address of pod main-1"},
		{row: "the IP of another pod, which has taken it", listed: "http://10.0.0.8:2380", rest: objects{inOther(podOf("etcd", "10.0.0.8"))}, wrong: "10.0.0.8 is the address of pod other/etcd"},
		{row: "the IP of another pod, which may be a proxy", listed: "http://10.0.0.8:2380", rest: objects{inOther(proxy.DeepCopy())}, wrong: "other/proxy, which may be a proxy", unknown: true},
		{row: "the IP of a pod of the namespace that may be a proxy", listed: "http://10.0.0.8:2390", rest: objects{proxy}, wrong: "team/proxy, which may be a proxy", unknown: true},
		{row: "a name that no pod has", listed: "http://main-7.main:2380", wrong: "no pod has the name main-7.main"},
		{row: "another Service", listed: "http://main-2.typo.team.svc:2380", wrong: "there is no Service team/typo"},
		{row: "another Service, which has no names of pods", listed: "http://main-2.lb.team.svc:2380", wrong: "no pod has the name"},
		{row: "another namespace", listed: "http://main-2.main.prod.svc:2380", wrong: "there is no Service prod/main"},
		{row: "another namespace, with such a Service", listed: "http://main-2.main.other.svc:2380", rest: objects{inOther(main.DeepCopy())}, wrong: "is a name of namespace other"},
		{row: "another namespace, which can't be read", listed: "http://main-2.main.other.svc:2380", barred: []string{"ServiceList other"}, wrong: "barred", unknown: true},
		{row: "another cluster", listed: "http://main-2.main.team.svc.example.org:2380", wrong: "another Kubernetes cluster", unknown: true},
		{row: "an IP from before", listed: "http://10.0.0.8:2380", change: []func(*corev1.Pod){ofIP}, wrong: "no pod, Service or node has the address 10.0.0.8"},
		{row: "an IP from before, and a name is advertised", listed: "http://10.0.0.8:2380", wrong: "no pod, Service or node has the address 10.0.0.8"},
		{row: "an IP from before, or of a Service that can't be read", listed: "http://10.0.0.8:2380", change: []func(*corev1.Pod){ofIP}, barred: []string{"ServiceList ."}, wrong: "barred", unknown: true},
		{row: "the IP of a node", listed: "http://10.1.0.1:2380", wrong: "that of node n1", unknown: true},
		{row: "IPv6 in another form", listed: "http://[fd00:0:0::9]:2380", change: []func(*corev1.Pod){ofIPv6}, barred: []string{"List"}, wrong: fits},
		{row: "IPv6 of another pod", listed: "http://[fd00::7]:2380", change: []func(*corev1.Pod){ofIPv6}, rest: objects{podOf("main-3", "fd00::7")}, wrong: "fd00::7 is the address of pod main-3"},
		{row: "IPv6 from before", listed: "http://[fd00::8]:2380", change: []func(*corev1.Pod){ofIPv6}, wrong: "no pod, Service or node has the address fd00::8"},
		{row: "each pod's own address", listed: "http://localhost:2380", wrong: "each pod has the address localhost itself"},
		{row: "each pod's own IP", listed: "http://127.0.0.1:2380", wrong: "each pod has the address 127.0.0.1 itself"},
		{row: "a Service", listed: "http://lb:2380", wrong: "that of a Service", unknown: true},
		{row: "the IP of a Service", listed: "http://10.96.0.7:2380", wrong: "that of a Service", unknown: true},
		{row: "a load balancer", listed: "http://192.0.2.2:2380", wrong: "that of a Service", unknown: true},
		{row: "the name of a load balancer", listed: "http://etcd.lb.example.com:2380", wrong: "that of a Service", unknown: true},
		{row: "a Service without a selector", listed: "http://main-2.ext:2380", rest: objects{of("ext", func(*corev1.ServiceSpec) {})}, wrong: "has no selector", unknown: true},
		{row: "the pod advertises a load balancer", listed: "http://wrong:2380", change: []func(*corev1.Pod){command(urls("http://0.0.0.0:2380", "http://etcd.lb.example.com:2380")...)}, wrong: "that of a Service", unknown: true},
		{row: "the pod advertises a wrong URL, too", listed: "http://wrong:2380", change: []func(*corev1.Pod){command(urls("http://0.0.0.0:2380", "http://main-1.main:2380")...)}, wrong: "pod main-2 advertises http://main-1.main:2380", unknown: true},
		{row: "a script assembles it", listed: "http://wrong:2380", change: []func(*corev1.Pod){command("sh", "-c", ". /env; exec etcd --listen-peer-urls=http://0.0.0.0:2380 --initial-advertise-peer-urls=$URL")}, wrong: "--initial-advertise-peer-urls", unknown: true},
		{row: "a variable of which the value is not known", listed: "http://wrong:2380", change: []func(*corev1.Pod){command(urls("http://0.0.0.0:2380", "http://$(HOST):2380")...)}, wrong: "only known in the pod", unknown: true},
		{row: "nothing is advertised", listed: "http://wrong:2380", change: []func(*corev1.Pod){command("etcd")}, wrong: "--initial-advertise-peer-urls", unknown: true},
		{row: "no address", listed: "unix://main-2", wrong: "has no address", unknown: true},
		{row: "the node's network, the same by the node's name", listed: "http://n1:2380", change: []func(*corev1.Pod){host}, wrong: fits},
		{row: "the node's network, another port", listed: "http://10.1.0.1:2381", change: []func(*corev1.Pod){host}, wrong: "another container", unknown: true},
		{row: "the node's network, an address that the node may have", listed: "http://10.200.0.1:2380", change: []func(*corev1.Pod){host}, wrong: "may have the peer address 10.200.0.1", unknown: true},
		{row: "the node's network, another name of the node", listed: "http://etcd1:2380", change: []func(*corev1.Pod){host}, wrong: "may have the peer address etcd1", unknown: true},
		{row: "a second network", listed: "http://192.168.50.5:2380", change: []func(*corev1.Pod){command(urls("http://192.168.50.5:2380", own)...)}, wrong: fits},
		{row: "an IP from before, and it listens on a second network alone", listed: "http://10.0.0.8:2380", change: []func(*corev1.Pod){command(urls("http://192.168.50.5:2380", own)...)}, wrong: "listens for peers on http://192.168.50.5:2380 alone", unknown: true},
		{row: "another name, and the pod searches other domains", listed: "http://wrong:2380", change: []func(*corev1.Pod){func(p *corev1.Pod) {
			p.Spec.DNSConfig = &corev1.PodDNSConfig{Searches: []string{"main.team.svc.cluster.local"}}
		}}, wrong: "DNS settings of pod main-2", unknown: true},
		{row: "another port, and a container beside it that declares none", listed: "http://main-2.main.team.svc:2390", change: []func(*corev1.Pod){beside(1)}, wrong: "another container", unknown: true},
		{row: "the IP of a pod as a name of a headless Service", listed: "http://10-0-0-9.main.team.svc:2380", wrong: "is that of Service team/main", unknown: true},
		{row: "the Service that names the advertised pod is gone", listed: "http://10.0.0.8:2380", change: []func(*corev1.Pod){
			func(p *corev1.Pod) { p.Spec.Subdomain = "gone" }, command(urls("http://0.0.0.0:2380", "http://main-2.gone.team.svc:2380")...),
		}, wrong: "there is no Service team/gone", unknown: true},
		{row: "the node's network, the node of another member", listed: "http://10.1.0.2:2380", change: []func(*corev1.Pod){host}, rest: objects{podOf("main-3", "", onOther)}, wrong: "10.1.0.2 is the address of pod main-3"},
	} {
		ip := "10.0.0.9"
		if strings.Contains(row.row, "IPv6") {
			ip = "fd00::9"
		}
		pod := memberOf("main-2", ip, row.change...)
		r := &observe.Reader{Reader: barred{append(objects{pod, peer, main, lb, node}, row.rest...), row.barred}}
		config, err := etcdconf.ParsePod(pod, nil)
		if err != nil {
			t.Fatalf("%s: %v", row.row, err)
		}
		lead, err := LeadOf(t.Context(), r, pod, config, strings.Split(row.listed, ","))
		got := strings.Join(lead.Wrong, "; ")
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, row.wrong) || (got == "") != (row.wrong == "") || (err != nil) != row.unknown {
			t.Errorf("%s: %q (not known: %t), want %q", row.row, got, err != nil, row.wrong)
		}
		if len(lead.Wrong) > 0 && strings.Join(lead.Advertised, ",") != strings.Join(config.AdvertisePeer, ",") {
			t.Errorf("%s: the pod advertises %q", row.row, lead.Advertised)
		}
	}
}

// TestLeadOfPods: pods that can't be listed may have any address.
func TestLeadOfPods(t *testing.T) {
	t.Parallel()
	pod := memberOf("main-2", "10.0.0.9")
	config, err := etcdconf.ParsePod(pod, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &observe.Reader{Reader: barred{observetest.Objects{client.Object(pod)}, []string{"PodList"}}}
	if lead, err := LeadOf(t.Context(), r, pod, config, []string{"http://10.0.0.8:2380"}); err == nil || lead.Wrong != nil {
		t.Errorf("%+v, %v", lead, err)
	}
}
