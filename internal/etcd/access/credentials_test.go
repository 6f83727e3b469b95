// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"crypto/x509"
	"maps"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
)

// world is a member's pod and the Secrets of its namespace.
type world struct {
	pod     *corev1.Pod
	secrets map[string]map[string][]byte
	owner   owner.Owner
}

func (w *world) finder(given Credentials) *finder {
	var objects observetest.Objects
	for name, data := range w.secrets {
		objects = append(objects, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Data: data})
	}
	r := &observe.Reader{Reader: objects}
	return &finder{reader: r, files: podfiles.New(r, "shop"), owner: w.owner, given: given}
}

func (i issued) secret(more map[string][]byte) map[string][]byte {
	data := map[string][]byte{"tls.crt": i.cert, "tls.key": i.key}
	maps.Copy(data, more)
	return data
}

// TestIdentity checks the order in which client certificates are searched, and that an
// ambiguous one isn't used.
func TestIdentity(t *testing.T) {
	t.Parallel()
	ours, others := newIssuer(t, "our authority", nil), newIssuer(t, "another authority", nil)
	ca := map[string][]byte{"ca.crt": ours.CertPEM}
	server, servingOnly := ours.issue(t, "server", nil), ours.issue(t, "server", only(x509.ExtKeyUsageServerAuth))
	client := func(name string) map[string][]byte {
		return ours.issue(t, name, only(x509.ExtKeyUsageClientAuth)).secret(nil)
	}
	for _, row := range []struct {
		name    string
		secrets map[string]map[string][]byte
		change  func(*world)
		given   Credentials
		want    string // the common name of who is shown
		err     []string
	}{
		{name: "the server's own", secrets: map[string]map[string][]byte{"server": server.secret(ca)}, want: "server"},
		{
			name:    "the one client's certificate that is there",
			secrets: map[string]map[string][]byte{"server": server.secret(ca), "x": client("client"), "y": others.issue(t, "other", nil).secret(nil)},
			want:    "client",
		},
		{
			name:    "of several none, but the server's own",
			secrets: map[string]map[string][]byte{"server": server.secret(ca), "x": client("one"), "y": client("two")},
			want:    "server",
		},
		{
			name:    "of several none",
			secrets: map[string]map[string][]byte{"server": servingOnly.secret(ca), "x": client("one"), "y": client("two")},
			err:     []string{"several certificates are accepted", "Secret shop/x, key tls.crt; Secret shop/y, key tls.crt", "--client-secret"},
		},
		{
			name:    "the distribution's",
			secrets: map[string]map[string][]byte{"server": server.secret(ca), "kam-root-client-certs": client("root"), "x": client("other")},
			change: func(w *world) {
				w.owner.Distribution, w.owner.Name = flavour.Kamaji, "kam"
			},
			want: "root",
		},
		{
			name: "in the server's Secret, under a chart's name",
			secrets: map[string]map[string][]byte{
				"server": server.secret(map[string][]byte{"ca.crt": ours.CertPEM, "apiserver-etcd-client.crt": client("chart")["tls.crt"], "apiserver-etcd-client.key": nil}),
				"x":      client("one"), "y": client("two"),
			},
			want: "server", // without its key it is none
		},
		{
			name:    "what etcdctl is given in the pod",
			secrets: map[string]map[string][]byte{"server": server.secret(ca), "mine": client("etcdctl"), "x": client("other")},
			change: func(w *world) {
				c := &w.pod.Spec.Containers[0]
				c.Env = []corev1.EnvVar{{Name: "ETCDCTL_CERT", Value: "/mine/tls.crt"}, {Name: "ETCDCTL_KEY", Value: "/mine/tls.key"}}
				c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "mine", MountPath: "/mine"})
				w.pod.Spec.Volumes = append(w.pod.Spec.Volumes, secretVolume("mine"))
			},
			want: "etcdctl",
		},
		{
			name:    "an expired one is passed by",
			secrets: map[string]map[string][]byte{"server": server.secret(ca), "x": ours.issue(t, "old", expired).secret(nil)},
			want:    "server",
		},
		{
			name:    "the user's Secret",
			secrets: map[string]map[string][]byte{"server": server.secret(ca), "x": client("one"), "y": client("two")},
			given:   Credentials{ClientSecret: "shop/y"}, want: "two",
		},
		{
			name:    "the user's files",
			secrets: map[string]map[string][]byte{"server": server.secret(ca)},
			given:   Credentials{Cert: client("file")["tls.crt"], Key: []byte("no key")}, err: []string{"--cert and --key: "},
		},
		{
			name:    "none where none is asked for",
			secrets: map[string]map[string][]byte{"server": server.secret(ca), "x": client("one")},
			change:  func(w *world) { w.pod.Spec.Containers[0].Args = w.pod.Spec.Containers[0].Args[:3] },
		},
		{
			name:    "none at all",
			secrets: map[string]map[string][]byte{"server": servingOnly.secret(ca)},
			err:     []string{"demands a client certificate, and none was found: Secret shop/server, key tls.crt is only valid for servers; set a client certificate with --cert and --key"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := world{pod: securePod(), secrets: row.secrets, owner: owner.Owner{Namespace: "shop", Name: "a", Kind: "StatefulSet", APIVersion: appsv1.SchemeGroupVersion.String()}}
			if row.change != nil {
				row.change(&w)
			}
			f := w.finder(row.given)
			s, err := f.files.Config(t.Context(), w.pod)
			if err != nil {
				t.Fatal(err)
			}
			got, err := f.identity(t.Context(), w.pod, s)
			for _, want := range row.err {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want %q", err, want)
				}
			}
			if err != nil && len(row.err) == 0 {
				t.Fatal(err)
			}
			name := ""
			if got != nil {
				name = got.leaf.Subject.CommonName
			}
			if name != row.want {
				t.Errorf("%q is shown, want %q", name, row.want)
			}
		})
	}
}

// TestAuthorities holds whom a member's certificate may be signed by.
func TestAuthorities(t *testing.T) {
	t.Parallel()
	servers, clients, others := newIssuer(t, "servers", nil), newIssuer(t, "clients", nil), newIssuer(t, "others", nil)
	server := servers.issue(t, "server", nil)
	for _, row := range []struct {
		name   string
		server map[string][]byte
		ca     []byte
		change func(*corev1.Container)
		given  Credentials
		from   string
		err    string
	}{
		{name: "beside the certificate", server: server.secret(map[string][]byte{"ca.crt": servers.CertPEM}), ca: clients.CertPEM, from: "Secret shop/server, key ca.crt"},
		{name: "what clients are signed by", server: server.secret(nil), ca: servers.CertPEM, from: "Secret shop/ca, key ca.crt"},
		{name: "which of the two signed it", server: server.secret(map[string][]byte{"ca.crt": clients.CertPEM}), ca: servers.CertPEM, from: "Secret shop/ca, key ca.crt"},
		{name: "what is given", server: server.secret(map[string][]byte{"ca.crt": servers.CertPEM}), given: Credentials{CACert: others.CertPEM}, from: "--cacert"},
		{
			name: "neither", server: server.secret(map[string][]byte{"ca.crt": others.CertPEM}), ca: clients.CertPEM,
			err: "the authority of its certificate is unknown (Secret shop/server, key tls.crt): Secret shop/server, key ca.crt did not sign it; Secret shop/ca, key ca.crt did not sign it; set the authorities with --cacert",
		},
		{
			name: "one that it makes itself", server: server.secret(nil), ca: servers.CertPEM, err: "auto-tls",
			change: func(c *corev1.Container) {
				c.Args = []string{"--listen-client-urls=https://0.0.0.0:2379", "--auto-tls"}
			},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := world{pod: securePod(), secrets: map[string]map[string][]byte{"server": row.server}, owner: owner.Owner{Namespace: "shop"}}
			if row.ca != nil {
				w.secrets["ca"] = map[string][]byte{"ca.crt": row.ca}
				c := &w.pod.Spec.Containers[0]
				c.Args[3] = "--trusted-ca-file=/ca/ca.crt"
				c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "ca", MountPath: "/ca"})
				w.pod.Spec.Volumes = append(w.pod.Spec.Volumes, secretVolume("ca"))
			}
			if row.change != nil {
				row.change(&w.pod.Spec.Containers[0])
			}
			f := w.finder(row.given)
			s, err := f.files.Config(t.Context(), w.pod)
			if err != nil {
				t.Fatal(err)
			}
			_, from, err := f.authorities(t.Context(), w.pod, s)
			if row.err == "" && (err != nil || from != row.from) || row.err != "" && (err == nil || !strings.Contains(err.Error(), row.err)) {
				t.Errorf("from %q, error %v; want %q, error %q", from, err, row.from, row.err)
			}
		})
	}
}

// securePod runs a member that demands certificates, its own from Secret server.
func securePod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a-0"},
		Spec: corev1.PodSpec{
			Hostname: "a-0", Subdomain: "a",
			Containers: []corev1.Container{{
				Name: "etcd", Command: []string{"etcd"},
				Args: []string{
					"--listen-client-urls=https://0.0.0.0:2379", "--cert-file=/server/tls.crt", "--key-file=/server/tls.key",
					"--trusted-ca-file=/server/ca.crt",
				},
				VolumeMounts: []corev1.VolumeMount{{Name: "server", MountPath: "/server"}},
			}},
			Volumes: []corev1.Volume{secretVolume("server")},
		},
	}
}

func secretVolume(name string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: name}}}
}
