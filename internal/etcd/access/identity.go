// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

const adviseClient = "set a client certificate with --cert and --key, or a Secret with one with --client-secret"

// identity returns the client certificate for the pod's member, nil if it demands none.
func (f *finder) identity(ctx context.Context, pod *corev1.Pod, s etcdconf.Config) (*pair, error) {
	p, err := f.givenIdentity(ctx)
	if err != nil || p != nil {
		return p, err
	}
	if !s.ClientTLS.DemandsClient() {
		return nil, nil
	}
	search := clientCertSearch{finder: f, pod: pod, serving: s}
	search.readClientCA(ctx)
	for _, find := range []func(context.Context) *pair{search.fromKnownSecret, search.fromPod, search.fromAnySecret, search.servingCert} {
		if p := find(ctx); p != nil {
			return p, nil
		}
	}
	what := "it demands a client certificate, and none was found"
	if len(search.tried) > 0 {
		what += ": " + strings.Join(search.tried, "; ")
	}
	return nil, &noIdentityError{what + "; " + adviseClient, search.forbidden}
}

// noIdentityError is the error if no client certificate was found. err is the API server's
// refusal, if there was one: then the user lacks a permission, and no member is at fault.
type noIdentityError struct {
	message string
	err     error
}

func (e *noIdentityError) Error() string { return e.message }
func (e *noIdentityError) Unwrap() error { return e.err }

func certificateOf(p *pair) *tls.Certificate {
	if p == nil {
		return nil
	}
	return p.certificate
}

// givenIdentity returns the user's pair, nil if there is none.
func (f *finder) givenIdentity(ctx context.Context) (*pair, error) {
	if len(f.given.Cert) > 0 || len(f.given.Key) > 0 {
		p, err := pairFrom(f.given.Cert, f.given.Key, "--cert and --key")
		if err != nil {
			return nil, err
		}
		return &p, nil
	}
	if f.given.ClientSecret == "" {
		return nil, nil
	}
	data, name, err := f.secret(ctx, f.given.ClientSecret)
	if err != nil {
		return nil, withAdvice(err, "set a client certificate with --cert and --key")
	}
	pairs := pairsIn(data, "Secret "+name)
	if at := slices.IndexFunc(pairs, func(p pair) bool { return strings.HasSuffix(p.from, ", key "+corev1.TLSCertKey) }); at >= 0 {
		return &pairs[at], nil
	}
	if len(pairs) != 1 {
		return nil, fmt.Errorf("secret %s has %d certificates with keys, and none of them is %s", name, len(pairs), corev1.TLSCertKey)
	}
	return &pairs[0], nil
}

// clientCertSearch searches for a client certificate that one pod's member accepts.
type clientCertSearch struct {
	*finder

	pod     *corev1.Pod
	serving etcdconf.Config
	// clientCA has the authorities that the member trusts, nil if they can't be read.
	clientCA []*x509.Certificate
	// tried lists the locations searched without success; forbidden is a refusal among them.
	tried     []string
	forbidden error
}

func (s *clientCertSearch) note(format string, args ...any) {
	s.tried = append(s.tried, fmt.Sprintf(format, args...))
}

// noteError notes why a location couldn't be searched.
func (s *clientCertSearch) noteError(err error) {
	if apierrors.IsForbidden(err) {
		s.forbidden = err
	}
	s.note("%v", withAdvice(err, ""))
}

// readClientCA reads the authorities that the member trusts.
func (s *clientCertSearch) readClientCA(ctx context.Context) {
	text, origin, err := s.files.File(ctx, s.pod, s.serving.Container, s.serving.ClientTLS.TrustedCA)
	if err == nil {
		if s.clientCA, err = authorities(text); err != nil {
			err = fmt.Errorf("%s: %w", inNamespace(origin, s.pod.Namespace), err)
		}
	}
	if err != nil {
		s.noteError(err)
	}
}

// accepts reports whether the member trusts the pair's authority for clients. It is false if
// that is unknown.
func (s *clientCertSearch) accepts(p pair) bool {
	return s.clientCA != nil && forClients(p.leaf) && signed(p.leaf, p.chain, s.clientCA)
}

// consider returns a pair for clients, or nil and notes what is wrong with it.
func (s *clientCertSearch) consider(p pair, err error) *pair {
	switch {
	case err != nil && isMissing(err):
		return nil
	case err != nil:
		s.noteError(err)
		return nil
	case s.clientCA != nil && !s.accepts(p):
		s.note("%s is not a client certificate of an authority that the member trusts", p.from)
		return nil
	case s.clientCA != nil && !valid(p.leaf, p.chain, s.clientCA):
		s.note("%s is valid %s", p.from, validity(p.leaf))
		return nil
	}
	return &p
}

// fromKnownSecret returns the pair that the cluster's product creates for clients.
func (s *clientCertSearch) fromKnownSecret(ctx context.Context) *pair {
	for _, k := range knownClients(s.owner, s.serverSecret(ctx)) {
		data, err := s.files.Secret(ctx, k.Secret)
		if err != nil {
			s.consider(pair{}, err)
			continue
		}
		if len(data[k.Cert]) == 0 {
			continue
		}
		p, err := pairFrom(data[k.Cert], data[k.Key], "Secret "+s.pod.Namespace+"/"+k.Secret+", key "+k.Cert)
		if found := s.consider(p, err); found != nil {
			return found
		}
	}
	return nil
}

// fromPod returns the pair for clients in the pod's own files.
func (s *clientCertSearch) fromPod(ctx context.Context) *pair {
	files := s.serving.Client
	if files.Cert == "" || files.Key == "" {
		return nil
	}
	return s.consider(s.filePair(ctx, files.Cert, files.Key))
}

// servingCert returns the member's own certificate if it is valid for clients too.
func (s *clientCertSearch) servingCert(ctx context.Context) *pair {
	p, err := s.filePair(ctx, s.serving.ClientTLS.Cert, s.serving.ClientTLS.Key)
	if err == nil && !forClients(p.leaf) {
		s.note("%s is only valid for servers", p.from)
		return nil
	}
	return s.consider(p, err)
}

// filePair reads a pair from two files of the pod.
func (s *clientCertSearch) filePair(ctx context.Context, cert, key string) (pair, error) {
	c, origin, err := s.files.File(ctx, s.pod, s.serving.Container, cert)
	if err != nil {
		return pair{}, err
	}
	k, _, err := s.files.File(ctx, s.pod, s.serving.Container, key)
	if err != nil {
		return pair{}, err
	}
	return pairFrom(c, k, inNamespace(origin, s.pod.Namespace))
}

// serverSecret returns the Secret with the member's certificate, empty if it is in none.
func (s *clientCertSearch) serverSecret(ctx context.Context) string {
	_, origin, _ := s.files.File(ctx, s.pod, s.serving.Container, s.serving.ClientTLS.Cert)
	return origin.Name
}

// secretPairs has the pairs in a namespace's Secrets.
type secretPairs struct {
	pairs []pair
	err   error
}

// fromAnySecret searches the Secrets of the namespace for a client certificate that the
// member accepts. If there are several it returns none, since each can have different
// permissions.
func (s *clientCertSearch) fromAnySecret(ctx context.Context) *pair {
	if s.clientCA == nil {
		return nil
	}
	all := s.allPairs(ctx)
	if all.err != nil {
		s.note("the Secrets of namespace %s could not be searched: %v", s.pod.Namespace, all.err)
		return nil
	}
	var found []pair
	for _, p := range all.pairs {
		same := func(q pair) bool { return q.leaf.Equal(p.leaf) }
		if s.accepts(p) && valid(p.leaf, p.chain, s.clientCA) && !s.isServing(ctx, p.leaf) && !slices.ContainsFunc(found, same) {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		return nil
	case 1:
		return &found[0]
	}
	names := make([]string, len(found))
	for i := range found {
		names[i] = found[i].from
	}
	slices.Sort(names)
	s.note("several certificates are accepted, and it is unknown which one to use: %s", strings.Join(names, "; "))
	return nil
}

// allPairs reads the pairs in all Secrets of the namespace, once.
func (f *finder) allPairs(ctx context.Context) *secretPairs {
	if f.inSecrets != nil {
		return f.inSecrets
	}
	f.inSecrets = &secretPairs{}
	var list corev1.SecretList
	if f.inSecrets.err = f.reader.List(ctx, &list, client.InNamespace(f.owner.Namespace)); f.inSecrets.err != nil {
		if apierrors.IsForbidden(f.inSecrets.err) {
			f.inSecrets.err = errors.New("that needs permission to list secrets")
		}
		return f.inSecrets
	}
	for i := range list.Items {
		secret := &list.Items[i]
		f.inSecrets.pairs = append(f.inSecrets.pairs, pairsIn(secret.Data, "Secret "+secret.Namespace+"/"+secret.Name)...)
	}
	return f.inSecrets
}

// isServing reports whether the member serves with this certificate.
func (s *clientCertSearch) isServing(ctx context.Context, leaf *x509.Certificate) bool {
	for _, file := range []string{s.serving.ClientTLS.Cert, s.serving.PeerTLS.Cert} {
		text, _, err := s.files.File(ctx, s.pod, s.serving.Container, file)
		if err != nil {
			continue
		}
		if its, _, err := certificates(text); err == nil && its.Equal(leaf) {
			return true
		}
	}
	return false
}
