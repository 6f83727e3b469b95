// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"crypto/x509"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// TestEndpointFlags: whatever of a pod's configuration can't be read, flags suffice to go on. They
// convert its error into a note. The error names them.
func TestEndpointFlags(t *testing.T) {
	t.Parallel()
	ours := newIssuer(t, "our authority", nil)
	client := ours.issue(t, "client", nil)
	withTLS := Credentials{CACert: ours.CertPEM, Cert: client.cert, Key: client.key}
	rendered := corev1.Volume{Name: "conf", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
	onNode := corev1.Volume{Name: "conf", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/etc/etcd"}}}
	driver := corev1.Volume{Name: "conf", VolumeSource: corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: "secrets-store.csi.k8s.io"}}}
	gone := corev1.Volume{Name: "conf", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "gone"}}}}
	for _, row := range []struct {
		name string
		args []string
		conf corev1.Volume
		give func(*Credentials)
		want Endpoint
		tls  bool
		err  []string
		note string
	}{
		{name: "a file that an init container writes", conf: rendered, err: []string{"(emptyDir)", "--client-port", "--cacert, --cert and --key", "--server-name"}},
		{name: "the same with a port", conf: rendered, give: func(c *Credentials) { c.ClientPort = 2390 }, want: Endpoint{Port: 2390}, note: "(emptyDir)"},
		{name: "the same with certificates", conf: rendered, give: func(c *Credentials) { *c = withTLS }, want: Endpoint{Port: 2379}, tls: true, note: "(emptyDir)"},
		{name: "the same with both", conf: rendered, give: func(c *Credentials) { *c = withTLS; c.ClientPort = 1 }, want: Endpoint{Port: 1}, tls: true, note: "the flags are used"},
		{name: "the same directly", conf: rendered, give: func(c *Credentials) { c.ClientPort, c.Direct = 2379, true }, want: Endpoint{Port: 2379, Address: "10.0.0.7"}, note: "(emptyDir)"},
		{name: "a file on the node", conf: onNode, err: []string{"(hostPath)", "--client-port"}},
		{name: "the same with a port", conf: onNode, give: func(c *Credentials) { c.ClientPort = 2379 }, want: Endpoint{Port: 2379}, note: "(hostPath)"},
		{name: "a file of a CSI driver", conf: driver, err: []string{"CSI driver", "--client-port"}},
		{name: "the same with certificates", conf: driver, give: func(c *Credentials) { *c = withTLS }, want: Endpoint{Port: 2379}, tls: true, note: "CSI driver"},
		{name: "a ConfigMap that is gone", conf: gone, err: []string{"ConfigMap shop/gone does not exist", "--client-port"}},
		{name: "the same with a port", conf: gone, give: func(c *Credentials) { c.ClientPort = 2379 }, want: Endpoint{Port: 2379}, note: "does not exist"},

		{name: "certificates in a file that can't be read", conf: rendered, args: []string{"--listen-client-urls=https://0.0.0.0:2379", "--cert-file=/conf/a.crt", "--client-cert-auth"}, err: []string{"(emptyDir)", "--cacert"}},
		{name: "the same with certificates", conf: rendered, args: []string{"--listen-client-urls=https://0.0.0.0:2379", "--cert-file=/conf/a.crt", "--client-cert-auth"}, give: func(c *Credentials) { *c = withTLS }, want: Endpoint{Port: 2379}, tls: true},
		{name: "the pod's IP alone", args: []string{"--listen-client-urls=http://10.0.0.7:2379"}, err: []string{"doesn't listen on the pod's localhost", "10.0.0.7", "--direct", "--client-port"}},
		{name: "the same directly", args: []string{"--listen-client-urls=http://10.0.0.7:2379"}, give: func(c *Credentials) { c.Direct = true }, want: Endpoint{Port: 2379, Address: "10.0.0.7"}},
		{name: "an IP of the second family", args: []string{"--listen-client-urls=http://[fd00::7]:2379"}, err: []string{"connect to fd00::7", "use --direct"}},
		{name: "the same directly", args: []string{"--listen-client-urls=http://[fd00::7]:2379"}, give: func(c *Credentials) { c.Direct = true }, want: Endpoint{Port: 2379, Address: "fd00::7"}},
		{name: "a socket", args: []string{"--listen-client-urls=unix:///run/etcd.sock"}, err: []string{"not reachable by network; if something"}},
		{name: "another address of localhost", args: []string{"--listen-client-urls=http://127.0.0.2:2379"}, err: []string{"reaches nothing else; if something"}},
		{name: "an IP of another network", args: []string{"--listen-client-urls=http://192.168.7.1:2379"}, err: []string{"reaches nothing else; if something"}},
		{name: "another port of the pod", args: []string{"--listen-client-urls=https://10.0.0.7:2379,http://127.0.0.1:2378"}, give: func(c *Credentials) { c.ClientPort = 2378 }, want: Endpoint{Port: 2378}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			pod := configuredPod(row.conf, row.args)
			var given Credentials
			if row.give != nil {
				row.give(&given)
			}
			var notes []string
			given.Note = func(text string) { notes = append(notes, text) }
			w := world{owner: owner.Owner{Namespace: "shop", Name: "a"}}
			got, err := w.finder(given).endpoints(t.Context(), []*corev1.Pod{pod})
			for _, want := range row.err {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want %q", err, want)
				}
			}
			if len(row.err) > 0 {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if e := got[0]; e.Port != row.want.Port || e.Address != row.want.Address || (e.TLS != nil) != row.tls {
				t.Errorf("port %d at %q, TLS %v; want %+v, TLS %v", e.Port, e.Address, e.TLS != nil, row.want, row.tls)
			}
			if text := strings.Join(notes, "\n"); !strings.Contains(text, row.note) || (text == "") != (row.note == "") {
				t.Errorf("noted %q, want %q", text, row.note)
			}
		})
	}
}

// configuredPod runs etcd with arguments, or with a configuration file in a volume.
func configuredPod(conf corev1.Volume, args []string) *corev1.Pod {
	if len(args) == 0 {
		args = []string{"--config-file=/conf/etcd.yaml"}
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a-0"},
		Spec: corev1.PodSpec{
			Hostname: "a-0", Subdomain: "a",
			Containers: []corev1.Container{{
				Name: "etcd", Command: []string{"etcd"}, Args: args,
				VolumeMounts: []corev1.VolumeMount{{Name: "conf", MountPath: "/conf"}},
			}},
		},
		Status: corev1.PodStatus{PodIP: "10.0.0.7", PodIPs: []corev1.PodIP{{IP: "10.0.0.7"}, {IP: "fd00::7"}}},
	}
	if conf.Name != "" {
		pod.Spec.Volumes = []corev1.Volume{conf}
	}
	return pod
}

// TestPasswordFrom: it is known where a password was read from, and one that can't be read is no error of its endpoint.
func TestPasswordFrom(t *testing.T) {
	t.Parallel()
	secrets := map[string]map[string][]byte{
		"root": {"etcd-root-password": []byte("s3cret")}, "user": {"username": []byte("ann"), "password": []byte("s3cret")},
	}
	from := func(secret, key string) corev1.EnvVar {
		ref := &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: key}
		return corev1.EnvVar{Name: "ETCD_ROOT_PASSWORD", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: ref}}
	}
	renamed := from("root", "etcd-root-password")
	renamed.Name = "PASSWORD"
	for _, row := range []struct {
		name         string
		env          []corev1.EnvVar
		envFrom      []corev1.EnvFromSource
		given        Credentials
		from, unread string
	}{
		{name: "of a Secret", env: []corev1.EnvVar{from("root", "etcd-root-password")}, from: "Secret shop/root, key etcd-root-password"},
		{
			name: "by envFrom", from: "Secret shop/root, key etcd-root-password",
			env:     []corev1.EnvVar{{Name: "ETCD_ROOT_PASSWORD", Value: "$(X_etcd-root-password)"}},
			envFrom: []corev1.EnvFromSource{{Prefix: "X_", SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "root"}}}},
		},
		{name: "by another variable", env: []corev1.EnvVar{renamed, {Name: "ETCD_ROOT_PASSWORD", Value: "$(PASSWORD)"}}, from: "Secret shop/root, key etcd-root-password"},
		{name: "in the pod", env: []corev1.EnvVar{{Name: "ETCD_ROOT_PASSWORD", Value: "s3cret"}}, from: "variable ETCD_ROOT_PASSWORD of pod shop/a-0"},
		{name: "of the user's Secret", given: Credentials{UserSecret: "user"}, from: "Secret shop/user, key password"},
		{name: "of the user", given: Credentials{User: "ann:s3cret"}, from: "--etcd-user"},
		{name: "a Secret that is gone", env: []corev1.EnvVar{from("gone", "x")}, unread: "Secret shop/gone does not exist"},
		{name: "none"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			pod := configuredPod(corev1.Volume{}, []string{"--listen-client-urls=http://0.0.0.0:2379"})
			pod.Spec.Containers[0].Env, pod.Spec.Containers[0].EnvFrom = row.env, row.envFrom
			w := world{owner: owner.Owner{Namespace: "shop", Name: "a"}, secrets: secrets}
			got, err := w.finder(row.given).endpoints(t.Context(), []*corev1.Pod{pod})
			if err != nil {
				t.Fatal(err)
			}
			unread := ""
			if got[0].PasswordErr != nil {
				unread = got[0].PasswordErr.Error()
			}
			if got[0].PasswordFrom != row.from || !strings.Contains(unread, row.unread) || (unread == "") != (row.unread == "") {
				t.Errorf("from %q, %q, want %q, %q", got[0].PasswordFrom, unread, row.from, row.unread)
			}
		})
	}
}

// TestUnknownListeners: URLs that can't be read are not etcd's default. A part of a list that is known is used.
func TestUnknownListeners(t *testing.T) {
	t.Parallel()
	unknown := map[string]string{"listen-client-urls": "why", "listen-metrics-urls": "why"}
	for _, row := range []struct {
		urls []string
		port int
		want string
	}{
		{[]string{"http://localhost:2379"}, 0, "are not known: why; set the port"},
		{[]string{"https://$IP:2379", "https://127.0.0.1:2379"}, 0, ""},
		{[]string{"https://localhost:2379"}, 2379, ""},
	} {
		f := &finder{given: Credentials{ClientPort: row.port}}
		s := etcdconf.Config{ListenClient: row.urls, ListenMetrics: []string{"http://127.0.0.1:1"}, Unknown: unknown}
		clients, metrics, err := f.listeners(&corev1.Pod{}, s, true)
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%q: %v, want %q", row.urls, err, row.want)
		}
		if err == nil && (metrics != clients || clients.secure != (row.port == 0)) {
			t.Errorf("%q: clients %+v, metrics %+v", row.urls, clients, metrics)
		}
	}
}

// TestComputedListeners: the flags for TLS suffice where each URL that could be used has a part that only the pod knows.
func TestComputedListeners(t *testing.T) {
	t.Parallel()
	const ip = "10.0.0.7"
	tls := Credentials{CACert: []byte("ca"), Cert: []byte("cert"), Key: []byte("key"), ServerName: "a"}
	for _, row := range []struct {
		id     string
		urls   []string
		given  Credentials
		direct bool
		want   listener
		err    bool
	}{
		{id: "CL-1 a host", urls: []string{"https://${BIND}:2390"}, given: tls, want: listener{port: 2390, secure: true}},
		{id: "CL-2 a host by a command", urls: []string{"https://$(hostname -i):2379/"}, given: tls, want: listener{port: 2379, secure: true}},
		{id: "CL-3 backticks", urls: []string{"https://`hostname -i`:2390"}, given: tls, want: listener{port: 2390, secure: true}},
		{id: "CL-4 brackets", urls: []string{"https://[${BIND}]:2390"}, given: tls, want: listener{port: 2390, secure: true}},
		{id: "CL-5 a port", urls: []string{"https://0.0.0.0:$PORT"}, given: tls, want: listener{port: 2379, secure: true}},
		{id: "CL-6 a host and a port", urls: []string{"https://$HOST:${PORT}"}, given: tls, want: listener{port: 2379, secure: true}},
		{id: "CL-7 the scheme", urls: []string{"$SCHEME://$HOST:2390"}, given: tls, want: listener{port: 2390, secure: true}},
		{id: "CL-8 all of it", urls: []string{"$URLS"}, given: tls, want: listener{port: 2379, secure: true}},
		{id: "CL-9 beside the pod's own address", urls: []string{"https://" + ip + ":2391", "https://$BIND:2390"}, given: tls, want: listener{port: 2390, secure: true}},
		{id: "CL-10 beside one that can't be parsed", urls: []string{"https://%zz:1", "https://$BIND:2390"}, given: tls, want: listener{port: 2390, secure: true}},
		{id: "CL-11 TLS before none", urls: []string{"http://$BIND:1", "https://$BIND:2390"}, given: tls, want: listener{port: 2390, secure: true}},
		{id: "CL-12 without TLS", urls: []string{"http://$BIND:2390"}, given: tls, want: listener{port: 2390}},
		{id: "CL-13 a known port before none", urls: []string{"https://$BIND:$PORT", "https://$BIND:2390"}, given: tls, want: listener{port: 2390, secure: true}},
		{id: "CL-14 a name alone", urls: []string{"https://$BIND:2390"}, given: Credentials{ServerName: "a"}, want: listener{port: 2390, secure: true}},
		{id: "CL-15 directly", urls: []string{"https://0.0.0.0:$PORT"}, given: tls, direct: true, want: listener{port: 2379, secure: true, address: ip}},
		{id: "CL-16 a usable one beside it", urls: []string{"https://$BIND:1", "http://127.0.0.1:2"}, given: tls, want: listener{port: 2}},
		{id: "CL-17 no flags", urls: []string{"https://$BIND:2390"}, err: true},
		{id: "CL-18 the pod's own address alone", urls: []string{"https://" + ip + ":2391"}, given: tls, err: true},
		{id: "CL-19 a port out of range", urls: []string{"https://$BIND:70000"}, given: tls, want: listener{port: 2379, secure: true}},
	} {
		notes := 0
		row.given.Direct, row.given.Note = row.direct, func(string) { notes++ }
		f := &finder{given: row.given}
		pod := &corev1.Pod{Status: corev1.PodStatus{PodIP: ip}}
		clients, _, err := f.listeners(pod, etcdconf.Config{ListenClient: row.urls, Unknown: map[string]string{}}, true)
		if clients != row.want || (err != nil) != row.err {
			t.Errorf("%s: %+v, %v; want %+v, an error: %t", row.id, clients, err, row.want, row.err)
		}
		if wants := !row.err && row.id != "CL-16 a usable one beside it"; (notes > 0) != wants {
			t.Errorf("%s: %d notes, want some: %t", row.id, notes, wants)
		}
	}
}

// TestLauncher: the flags reach a member whose launcher gives etcd settings that its pod doesn't show.
func TestLauncher(t *testing.T) {
	t.Parallel()
	ours := newIssuer(t, "our authority", nil)
	client := ours.issue(t, "client", nil)
	withTLS := Credentials{CACert: ours.CertPEM, Cert: client.cert, Key: client.key}
	withPort := withTLS
	withPort.ClientPort = 4001
	const urls = "--listen-client-urls="
	for _, row := range []struct {
		name  string
		args  []string
		given Credentials
		want  Endpoint
		tls   bool
		note  string
	}{
		{name: "nothing is known", want: Endpoint{Port: 2379}, note: "etcd's default http://localhost:2379 is used; set the port"},
		{name: "certificates", given: withTLS, want: Endpoint{Port: 2379}, tls: true, note: "port 2379 is used with the flags"},
		{name: "the port and certificates", given: withPort, want: Endpoint{Port: 4001}, tls: true},
		{name: "etcd's port and certificates", given: func() Credentials { c := withTLS; c.ClientPort = 2379; return c }(), want: Endpoint{Port: 2379}, tls: true},
		{name: "the port alone", given: Credentials{ClientPort: 2379}, want: Endpoint{Port: 2379}},
		{name: "directly", given: func() Credentials { c := withTLS; c.Direct = true; return c }(), want: Endpoint{Port: 2379, Address: "10.0.0.7"}, tls: true, note: "the flags"},
		{name: "URLs are passed", args: []string{urls + "http://0.0.0.0:2390"}, given: withTLS, want: Endpoint{Port: 2390}},
		{name: "URLs with TLS are passed", args: []string{urls + "https://0.0.0.0:2390"}, given: withTLS, want: Endpoint{Port: 2390}, tls: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			pod := configuredPod(corev1.Volume{}, append([]string{"wait"}, row.args...))
			pod.Spec.Containers[0].Command = []string{"backup-restore-sidecar"}
			pod.Annotations = map[string]string{v1alpha1.EtcdAnnotation: "etcd"}
			var notes []string
			row.given.Note = func(text string) { notes = append(notes, text) }
			w := world{owner: owner.Owner{Namespace: "shop", Name: "a"}}
			got, err := w.finder(row.given).endpoints(t.Context(), []*corev1.Pod{pod})
			if err != nil {
				t.Fatal(err)
			}
			if e := got[0]; e.Port != row.want.Port || e.Address != row.want.Address || (e.TLS != nil) != row.tls || e.Name != "" {
				t.Errorf("%q: port %d at %q, TLS %v; want %+v, TLS %v", e.Name, e.Port, e.Address, e.TLS != nil, row.want, row.tls)
			}
			if text := strings.Join(notes, "\n"); !strings.Contains(text, row.note) || (text == "") != (row.note == "") {
				t.Errorf("noted %q, want %q", text, row.note)
			}
		})
	}
}

// TestDescription: a client certificate is named by its Secret and its validity.
func TestDescription(t *testing.T) {
	t.Parallel()
	p := &pair{from: "Secret team/x, key tls.crt", leaf: &x509.Certificate{
		NotBefore: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC),
	}}
	if got := p.description(); got != "Secret team/x, key tls.crt, valid from 2025-01-01T00:00:00Z to 2026-01-02T03:04:00Z" {
		t.Error(got)
	}
	if got := (*pair)(nil).description(); got != "" {
		t.Errorf("none is %q", got)
	}
}
