// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
)

// Credentials are the user's settings. Empty ones are searched for in the cluster.
type Credentials struct {
	// CACert has the authorities of members' certificates in PEM.
	CACert []byte
	// Cert and Key are a client certificate in PEM.
	Cert, Key []byte
	// ClientSecret is the [NAMESPACE/]NAME of a Secret with such a pair, and optionally
	// ca.crt.
	ClientSecret string
	// User is NAME or NAME:PASSWORD. UserSecret is the [NAMESPACE/]NAME of a Secret with a
	// username and a password.
	User, UserSecret string
	// ServerName is the name that members' certificates must have.
	ServerName string
	// ClientPort is the port on the pods' localhost where members serve clients.
	ClientPort int
	// Direct means that members are dialled at their pods' IPs, without a port-forward, where
	// they listen there.
	Direct bool
	// Note reports what can't be read and is replaced by these settings. Nil reports nothing.
	Note func(text string)
}

// tls reports whether the user set something that only matters with TLS.
func (c Credentials) tls() bool {
	return len(c.CACert)+len(c.Cert)+len(c.Key) > 0 || c.ClientSecret != "" || c.ServerName != ""
}

// finder finds the endpoints of one cluster's members and their credentials.
type finder struct {
	reader   *observe.Reader
	files    *podfiles.Files
	owner    owner.Owner
	given    Credentials
	services []corev1.Service

	// inSecrets has the pairs in the namespace's Secrets, nil before the first search.
	inSecrets *secretPairs
}

func (f *finder) note(format string, args ...any) {
	if f.given.Note != nil {
		f.given.Note(fmt.Sprintf(format, args...))
	}
}

// tls returns the configuration that verifies the pod's member, and the client certificate in
// it, which is nil for none.
func (f *finder) tls(ctx context.Context, pod *corev1.Pod, s etcdconf.Config) (*tls.Config, *pair, error) {
	member := "pod " + pod.Namespace + "/" + pod.Name
	roots, from, err := f.authorities(ctx, pod, s)
	if err != nil {
		return nil, nil, fmt.Errorf("trust %s: %w", member, err)
	}
	v := &verifier{member: member, roots: roots, from: from, shown: f.servingFrom(ctx, pod, s), names: memberNames(pod, s, f.services)}
	if f.given.ServerName != "" {
		v.names, v.given = []string{f.given.ServerName}, true
	}
	if len(v.names) == 0 {
		return nil, nil, fmt.Errorf("trust %s: its certificate can't be verified, since its names are unknown; set one with --server-name", member)
	}
	client, err := f.identity(ctx, pod, s)
	if err != nil {
		return nil, nil, fmt.Errorf("log in to %s: %w", member, err)
	}
	return v.config(certificateOf(client)), client, nil
}

// servingFrom describes where a member's certificate is from: a key of a Secret, or a file in
// the pod. It is empty if that isn't known.
func (f *finder) servingFrom(ctx context.Context, pod *corev1.Pod, s etcdconf.Config) string {
	if s.ClientTLS.Cert == "" {
		return ""
	}
	_, origin, err := f.files.File(ctx, pod, s.Container, s.ClientTLS.Cert)
	if err != nil {
		return "file " + s.ClientTLS.Cert + " of its pod"
	}
	return inNamespace(origin, pod.Namespace)
}

const adviseCA = "set the authorities with --cacert and, if the member demands one, a client certificate with --cert and --key"

// authorities returns the authorities of the member's certificate and a description of their
// source: the user's, or ca.crt beside the certificate, or those that etcd trusts for its
// clients. Some clusters have other authorities for clients, so authorities returns the
// first that signed the certificate.
func (f *finder) authorities(ctx context.Context, pod *corev1.Pod, s etcdconf.Config) (*x509.CertPool, string, error) {
	if len(f.given.CACert) > 0 {
		return poolOf(f.given.CACert, "--cacert")
	}
	if f.given.ClientSecret != "" {
		data, name, err := f.secret(ctx, f.given.ClientSecret)
		if err != nil {
			return nil, "", withAdvice(err, adviseCA)
		}
		if len(data[caKey]) > 0 {
			return poolOf(data[caKey], "Secret "+name)
		}
	}
	if s.ClientTLS.Auto {
		return nil, "", errors.New("it creates a new certificate at each start (auto-tls), which doesn't prove its identity; " +
			"copy it from the member's data directory (fixtures/client/cert.pem) and set it with --cacert, and the name in it with --server-name")
	}
	server, origin, err := f.files.File(ctx, pod, s.Container, s.ClientTLS.Cert)
	if s.ClientTLS.Cert == "" {
		return nil, "", errors.New("it serves TLS, but its pod configures no certificate (cert-file); " + adviseCA)
	}
	if err != nil {
		return nil, "", withAdvice(err, adviseCA)
	}
	leaf, chain, err := certificates(server)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", inNamespace(origin, pod.Namespace), err)
	}
	return f.signer(ctx, pod, s, origin, leaf, chain)
}

// signer returns the first of the known authorities that signed leaf.
func (f *finder) signer(ctx context.Context, pod *corev1.Pod, s etcdconf.Config, origin etcdconf.Origin, leaf *x509.Certificate, chain []*x509.Certificate) (*x509.CertPool, string, error) {
	var tried []string
	note := func(err error) {
		if message := err.Error(); !slices.Contains(tried, message) {
			tried = append(tried, message)
		}
	}
	for _, candidate := range []func() ([]byte, etcdconf.Origin, error){
		func() ([]byte, etcdconf.Origin, error) {
			return f.files.File(ctx, pod, s.Container, path.Join(path.Dir(s.ClientTLS.Cert), caKey))
		},
		func() ([]byte, etcdconf.Origin, error) {
			data, err := f.files.Contents(ctx)(origin.Kind, origin.Name)
			return data[caKey], etcdconf.Origin{Kind: origin.Kind, Name: origin.Name, Key: caKey}, err
		},
		func() ([]byte, etcdconf.Origin, error) {
			if s.ClientTLS.TrustedCA == "" {
				return nil, etcdconf.Origin{}, nil
			}
			return f.files.File(ctx, pod, s.Container, s.ClientTLS.TrustedCA)
		},
	} {
		pem, origin, err := candidate()
		if err != nil || len(pem) == 0 {
			if err != nil && !isMissing(err) {
				note(err)
			}
			continue
		}
		from := inNamespace(origin, pod.Namespace)
		trusted, err := authorities(pem)
		if err != nil {
			note(fmt.Errorf("%s: %w", from, err))
			continue
		}
		if signed(leaf, chain, trusted) {
			return pool(trusted), from, nil
		}
		note(fmt.Errorf("%s did not sign it", from))
	}
	what := fmt.Sprintf("the authority of its certificate is unknown (%s)", inNamespace(origin, pod.Namespace))
	if len(tried) > 0 {
		what += ": " + strings.Join(tried, "; ")
	}
	return nil, "", errors.New(what + "; " + adviseCA)
}

// secret reads a Secret by a user's [NAMESPACE/]NAME.
func (f *finder) secret(ctx context.Context, named string) (map[string][]byte, string, error) {
	files, namespace, name := f.files, f.owner.Namespace, named
	if at, rest, ok := strings.Cut(named, "/"); ok {
		files, namespace, name = podfiles.New(f.reader, at), at, rest
	}
	data, err := files.Secret(ctx, name)
	return data, namespace + "/" + name, err
}

// withAdvice adds to the error of a file or an object what the user can do instead.
func withAdvice(err error, advice string) error {
	switch {
	case advice == "":
		return err
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%w; without that permission, %s", err, advice)
	}
	return fmt.Errorf("%w; %s", err, advice)
}

// isMissing reports whether a file or object doesn't exist or can't be read from outside the
// pod.
func isMissing(err error) bool {
	var missing *etcdconf.MissingError
	var unreadable *etcdconf.UnreadableError
	return errors.As(err, &missing) || errors.As(err, &unreadable)
}
