// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

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
)

// Credentials are what the user gave. What is empty is looked for in the cluster.
type Credentials struct {
	// CACert are the authorities that may sign members' certificates, PEM.
	CACert []byte
	// Cert and Key are a client's certificate, PEM.
	Cert, Key []byte
	// ClientSecret is [NAMESPACE/]NAME of a Secret with such a pair, and
	// perhaps ca.crt.
	ClientSecret string
	// User is NAME or NAME:PASSWORD; UserSecret is [NAMESPACE/]NAME of a Secret
	// with username and password.
	User, UserSecret string
	// ServerName is the one name that members' certificates must have.
	ServerName string
}

// finder looks for what it takes to reach one cluster's members.
type finder struct {
	reader   *observe.Reader
	files    *observe.Files
	owner    observe.Owner
	given    Credentials
	services []corev1.Service

	// searched is what a search through the namespace's Secrets gave; see search.
	searched *searched
}

// tls is how the pod's member is verified, and what is shown to it.
func (f *finder) tls(ctx context.Context, pod *corev1.Pod, s etcdconf.Config) (*tls.Config, error) {
	member := "pod " + pod.Namespace + "/" + pod.Name
	roots, from, err := f.authorities(ctx, pod, s)
	if err != nil {
		return nil, fmt.Errorf("trust %s: %w", member, err)
	}
	v := &verifier{member: member, roots: roots, from: from, names: memberNames(pod, s, f.services)}
	if f.given.ServerName != "" {
		v.names, v.given = []string{f.given.ServerName}, true
	}
	if len(v.names) == 0 {
		return nil, fmt.Errorf("trust %s: it has no name by which to know its certificate; give one by --server-name", member)
	}
	client, err := f.identity(ctx, pod, s)
	if err != nil {
		return nil, fmt.Errorf("log in to %s: %w", member, err)
	}
	return v.config(client), nil
}

const adviseCA = "give the authorities by --cacert, and where it demands one a client certificate by --cert and --key"

// authorities are who may have signed the member's certificate, and in words
// where they are from: given, or ca.crt beside the certificate, or those that
// etcd trusts for its clients. The latter are another line of authorities in
// some clusters, so that the first which did sign the certificate is taken.
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
		return nil, "", errors.New("it makes its own certificate at each start (auto-tls), which proves nothing of who it is; " +
			"copy it from the member's data directory (fixtures/client/cert.pem) and give it by --cacert, with --server-name for the name in it")
	}
	server, origin, err := f.files.File(ctx, pod, s.Container, s.ClientTLS.Cert)
	if s.ClientTLS.Cert == "" {
		return nil, "", errors.New("it serves TLS, but its pod names no certificate (cert-file); " + adviseCA)
	}
	if err != nil {
		return nil, "", withAdvice(err, adviseCA)
	}
	leaf, chain, err := certificates(server)
	if err != nil {
		return nil, "", fmt.Errorf("%s, key %s: %w", origin.Kind+" "+pod.Namespace+"/"+origin.Name, origin.Key, err)
	}
	return f.signer(ctx, pod, s, origin, leaf, chain)
}

func (f *finder) signer(ctx context.Context, pod *corev1.Pod, s etcdconf.Config, origin etcdconf.Origin, leaf *x509.Certificate, chain []*x509.Certificate) (*x509.CertPool, string, error) {
	var tried []string
	note := func(err error) {
		if words := err.Error(); !slices.Contains(tried, words) {
			tried = append(tried, words)
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
		from := fmt.Sprintf("%s %s/%s, key %s", origin.Kind, pod.Namespace, origin.Name, origin.Key)
		trusted, err := authorities(pem)
		if err != nil {
			note(fmt.Errorf("%s: %w", from, err))
			continue
		}
		if signed(leaf, chain, trusted) {
			return pool(trusted), from, nil
		}
		note(fmt.Errorf("%s has not signed it", from))
	}
	what := fmt.Sprintf("nothing says who signed its certificate (%s %s/%s, key %s)", origin.Kind, pod.Namespace, origin.Name, origin.Key)
	if len(tried) > 0 {
		what += ": " + strings.Join(tried, "; ")
	}
	return nil, "", errors.New(what + "; " + adviseCA)
}

// secret reads a Secret that is named as a user does it.
func (f *finder) secret(ctx context.Context, named string) (map[string][]byte, string, error) {
	files, namespace, name := f.files, f.owner.Namespace, named
	if at, rest, ok := strings.Cut(named, "/"); ok {
		files, namespace, name = f.reader.Files(at), at, rest
	}
	data, err := files.Secret(ctx, name)
	return data, namespace + "/" + name, err
}

// withAdvice says what else would do, where a file can't be had or an object
// can't be read.
func withAdvice(err error, advice string) error {
	switch {
	case advice == "":
		return err
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%w; without that right, %s", err, advice)
	}
	return fmt.Errorf("%w; %s", err, advice)
}

func isMissing(err error) bool {
	var missing *etcdconf.MissingError
	var unreadable *etcdconf.UnreadableError
	return errors.As(err, &missing) || errors.As(err, &unreadable)
}
