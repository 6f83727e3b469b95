// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"cmp"
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
)

// certManagerName is cert-manager's annotation on a Secret that it keeps.
const certManagerName = "cert-manager.io/certificate-name"

// secrets reads the certificates in the Secrets that members mount. It doesn't parse the
// keys.
func (g *gatherer) secrets(ctx context.Context) {
	pods, err := g.Reader.MemberPods(ctx, g.Owner)
	if err != nil {
		g.Certificates.Err = err
		return
	}
	seen := map[string]bool{}
	for _, pod := range pods {
		roles := g.roles(ctx, pod)
		for _, name := range secretsOf(&pod.Spec) {
			if seen[name] {
				continue
			}
			seen[name] = true
			var secret corev1.Secret
			err := g.Reader.Get(ctx, client.ObjectKey{Namespace: pod.Namespace, Name: name}, &secret)
			switch {
			case apierrors.IsNotFound(err): // optional, or the pod could not have started
			case err != nil:
				g.Certificates.Err = err
				return
			default:
				g.Certificates.Value = append(g.Certificates.Value, certificatesIn(&secret, roles)...)
			}
		}
	}
}

// secretsOf returns the Secrets that a pod mounts, in order.
func secretsOf(pod *corev1.PodSpec) []string {
	var names []string
	for _, v := range pod.Volumes {
		if v.Secret != nil {
			names = append(names, v.Secret.SecretName)
		}
		if v.Projected == nil {
			continue
		}
		for _, s := range v.Projected.Sources {
			if s.Secret != nil {
				names = append(names, s.Secret.Name)
			}
		}
	}
	return names
}

// roles returns what etcd uses the files of Secrets for.
func (g *gatherer) roles(ctx context.Context, pod *corev1.Pod) map[etcdconf.Origin]string {
	files := podfiles.New(g.Reader, pod.Namespace)
	s, err := files.Config(ctx, pod)
	if err != nil {
		return nil // their names alone show their role
	}
	roles := map[etcdconf.Origin]string{}
	for _, use := range []struct{ path, role string }{
		{s.Client.Cert, "client's"}, {s.Client.TrustedCA, "server's CA"},
		{s.PeerTLS.TrustedCA, "peers' CA"}, {s.PeerTLS.Cert, "peer's"},
		{s.ClientTLS.TrustedCA, "clients' CA"}, {s.ClientTLS.Cert, "server's"},
	} {
		if use.path == "" {
			continue
		}
		_, origin, err := files.File(ctx, pod, s.Container, path.Clean(use.path))
		if err == nil {
			roles[origin] = use.role
		}
		g.unread(err)
	}
	return roles
}

// unread records why a file can't be read, once for all members that have it.
func (g *gatherer) unread(err error) {
	why, is := errors.AsType[*etcdconf.UnreadableError](err)
	if is && !slices.ContainsFunc(g.Unread, func(e *etcdconf.UnreadableError) bool { return e.Path == why.Path }) {
		g.Unread = append(g.Unread, why)
	}
}

// certificatesIn returns those of a Secret, one for each key. A file may have
// several: of a chain the first counts, of authorities the one that lasts, since
// the others are there for a change of authorities.
func certificatesIn(secret *corev1.Secret, roles map[etcdconf.Origin]string) []health.Certificate {
	var found []health.Certificate
	for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
		chain := parseChain(secret.Data[key])
		if len(chain) == 0 {
			continue
		}
		which := chain[0]
		if which.IsCA {
			which = slices.MaxFunc(chain, func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) })
		}
		c := health.Certificate{
			Role:  cmp.Or(roles[etcdconf.Origin{Kind: "Secret", Name: secret.Name, Key: key}], "mounted"),
			Where: "Secret " + secret.Namespace + "/" + secret.Name + ", key " + key, NotAfter: which.NotAfter,
		}
		if name := secret.Annotations[certManagerName]; name != "" && !which.IsCA {
			c.Issuer, c.Life = name, which.NotAfter.Sub(which.NotBefore)
		}
		found = append(found, c)
	}
	return found
}

func parseChain(data []byte) []*x509.Certificate {
	var chain []*x509.Certificate
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if !strings.Contains(block.Type, "CERTIFICATE") || strings.Contains(block.Type, "REQUEST") {
			continue
		}
		if c, err := x509.ParseCertificate(block.Bytes); err == nil {
			chain = append(chain, c)
		}
	}
	return chain
}
