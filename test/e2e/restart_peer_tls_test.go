// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/certtest"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestPluginRestartPeerTLS enables TLS between the members of a cluster under load, and disables it again. The
// command is killed after each of its steps, also those of etcd's member list, and continued. Every key that was
// acknowledged stays, and so do the IDs.
func TestPluginRestartPeerTLS(t *testing.T) {
	operating(t, 3)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3, Mutate: func(set *appsv1.StatefulSet) {
		set.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}
	}})
	createPeerSecret(t, ns)
	command := []string{"restart", "statefulset/main", "-n", ns, "-y"}
	coordinated := append(slices.Clone(command), "--strategy", "coordinated")
	put(t, c, 100)
	writing := startLoad(t, c)
	ids := idsOf(t, c)
	for _, scheme := range []string{"https", "http"} {
		before := livesOf(t, c)
		setPeerScheme(t, c, scheme)
		prints(t, 2, []string{"on which its next pod doesn't listen", "--strategy coordinated"}, command...)
		killRepeatedly(t, c, coordinated...)
		restarted(t, c, before, "main-0", "main-1", "main-2")
		asBeforeRestart(t, c)
		votersAre(t, c, 3)
		peersAre(t, c, scheme)
		if now := idsOf(t, c); !maps.Equal(now, ids) {
			t.Errorf("%s: the IDs are %v, and were %v", scheme, now, ids)
		}
	}

	before := livesOf(t, c)
	setPeerScheme(t, c, "https")
	r := startPlugin(t, coordinated...)
	r.awaitOutput(t, "in etcd's member list are https://")
	_ = r.cmd.Process.Kill()
	r.wait(t)
	unlock(t, c)
	plugin(t, 0, append(command, "--abort")...)
	asBeforeRestart(t, c)
	if now := livesOf(t, c); maps.Equal(now, before) {
		peersAre(t, c, "http") // it was killed before the stop
	}
	writing.kept(t)
}

// createPeerSecret creates the certificate of all members, and its authority.
func createPeerSecret(t *testing.T, ns string) {
	t.Helper()
	from, to := time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	ca := certtest.Make(t, &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "peer-ca"}, NotBefore: from, NotAfter: to,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil)
	full := "main." + ns + ".svc.cluster.local"
	pair := certtest.Make(t, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "etcd-peer"}, NotBefore: from, NotAfter: to,
		DNSNames: []string{full, "*." + full, "*.main." + ns + ".svc"}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, ca)
	create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "main-peer-tls"}, Data: map[string][]byte{
		"tls.crt": pair.CertPEM, "tls.key": pair.KeyPEM, "ca.crt": ca.CertPEM,
	}})
}

var peerFlags = []string{
	"--peer-cert-file=/etc/etcd/certs/peer/tls.crt", "--peer-key-file=/etc/etcd/certs/peer/tls.key",
	"--peer-trusted-ca-file=/etc/etcd/certs/peer/ca.crt", "--peer-client-cert-auth=true",
}

// setPeerScheme changes the pod template to peers with or without TLS. No pod restarts by it.
func setPeerScheme(t *testing.T, c *clusters.Cluster, scheme string) {
	t.Helper()
	set, err := c.StatefulSet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	was := set.DeepCopy()
	pod := &set.Spec.Template.Spec
	etcd := &pod.Containers[0]
	etcd.Args = slices.DeleteFunc(etcd.Args, func(arg string) bool { return strings.HasPrefix(arg, "--peer-") })
	for i, arg := range etcd.Args {
		if name, url, ok := strings.Cut(arg, "="); ok && (name == "--listen-peer-urls" || name == "--initial-advertise-peer-urls") {
			_, rest, _ := strings.Cut(url, "://")
			etcd.Args[i] = fmt.Sprintf("%s=%s://%s", name, scheme, rest)
		}
	}
	pod.Volumes = slices.DeleteFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == "peer-tls" })
	etcd.VolumeMounts = slices.DeleteFunc(etcd.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == "peer-tls" })
	if scheme == "https" {
		etcd.Args = append(etcd.Args, peerFlags...)
		etcd.VolumeMounts = append(etcd.VolumeMounts, corev1.VolumeMount{Name: "peer-tls", MountPath: "/etc/etcd/certs/peer", ReadOnly: true})
		pod.Volumes = append(pod.Volumes, corev1.Volume{Name: "peer-tls", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "main-peer-tls"}}})
	}
	if err := kube.Patch(t.Context(), set, client.MergeFrom(was)); err != nil {
		t.Fatal(err)
	}
}

// peersAre requires a scheme of all peer URLs in etcd's list.
func peersAre(t *testing.T, c *clusters.Cluster, scheme string) {
	t.Helper()
	conn, err := c.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	retry(t, "the member list", func(ctx context.Context) error {
		list, err := conn.MemberList(ctx)
		if err != nil {
			return err
		}
		for _, m := range list.Members {
			if len(m.PeerURLs) != 1 || !strings.HasPrefix(m.PeerURLs[0], scheme+"://") {
				t.Errorf("%s has the peer URLs %v, want %s", m.Name, m.PeerURLs, scheme)
			}
		}
		return nil
	})
}
