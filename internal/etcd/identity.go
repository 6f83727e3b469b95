// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

const adviseClient = "give a client certificate by --cert and --key, or a Secret with one by --client-secret"

// identity is the certificate to show to the pod's member, nil where it asks
// for none.
func (f *finder) identity(ctx context.Context, pod *corev1.Pod, s etcdconf.Config) (*tls.Certificate, error) {
	p, err := f.givenIdentity(ctx)
	if err != nil || p != nil {
		return certificateOf(p), err
	}
	if !s.ClientTLS.DemandsClient() {
		return nil, nil
	}
	h := hunt{finder: f, pod: pod, serving: s}
	h.readClientCA(ctx)
	for _, look := range []func(context.Context) *pair{h.known, h.own, h.search, h.serving509} {
		if p := look(ctx); p != nil {
			return p.certificate, nil
		}
	}
	what := "it demands a client certificate, and none was found"
	if len(h.tried) > 0 {
		what += ": " + strings.Join(h.tried, "; ")
	}
	return nil, &noIdentityError{what + "; " + adviseClient, h.forbidden}
}

// noIdentityError is that no client certificate was found. Err is the API server's
// refusal, where there was one: it is the user's rights then, and no fault of a member's.
type noIdentityError struct {
	words string
	err   error
}

func (e *noIdentityError) Error() string { return e.words }
func (e *noIdentityError) Unwrap() error { return e.err }

func certificateOf(p *pair) *tls.Certificate {
	if p == nil {
		return nil
	}
	return p.certificate
}

// givenIdentity is what the user gave, nil for nothing.
func (f *finder) givenIdentity(ctx context.Context) (*pair, error) {
	if len(f.given.Cert) > 0 || len(f.given.Key) > 0 {
		p, err := pairFrom(f.given.Cert, f.given.Key, "--cert and --key")
		return &p, err
	}
	if f.given.ClientSecret == "" {
		return nil, nil
	}
	data, name, err := f.secret(ctx, f.given.ClientSecret)
	if err != nil {
		return nil, withAdvice(err, "give a client certificate by --cert and --key")
	}
	pairs := pairsIn(data, "Secret "+name)
	if at := slices.IndexFunc(pairs, func(p pair) bool { return strings.HasSuffix(p.from, ", key "+corev1.TLSCertKey) }); at >= 0 {
		return &pairs[at], nil
	}
	if len(pairs) != 1 {
		return nil, fmt.Errorf("secret %s has %d certificates with keys, and none is called %s", name, len(pairs), corev1.TLSCertKey)
	}
	return &pairs[0], nil
}

// hunt looks for a client's certificate that one pod's member would accept.
type hunt struct {
	*finder

	pod     *corev1.Pod
	serving etcdconf.Config
	// clientCA are the authorities that the member trusts, nil where they can't be read.
	clientCA []*x509.Certificate
	// tried is, in words, what was looked at in vain; forbidden is a refusal among it.
	tried     []string
	forbidden error
}

func (h *hunt) note(format string, args ...any) {
	h.tried = append(h.tried, fmt.Sprintf(format, args...))
}

// noteError notes what kept something from being looked at.
func (h *hunt) noteError(err error) {
	if apierrors.IsForbidden(err) {
		h.forbidden = err
	}
	h.note("%v", withAdvice(err, ""))
}

func (h *hunt) readClientCA(ctx context.Context) {
	text, origin, err := h.files.File(ctx, h.pod, h.serving.Container, h.serving.ClientTLS.TrustedCA)
	if err == nil {
		if h.clientCA, err = authorities(text); err != nil {
			err = fmt.Errorf("%s %s/%s, key %s: %w", origin.Kind, h.pod.Namespace, origin.Name, origin.Key, err)
		}
	}
	if err != nil {
		h.noteError(err)
	}
}

// accepts says whether the member would take the pair, as far as can be told.
func (h *hunt) accepts(p pair) bool {
	return h.clientCA != nil && forClients(p.leaf) && signed(p.leaf, p.chain, h.clientCA)
}

// consider takes a pair that is meant for clients, or says what is wrong with it.
func (h *hunt) consider(p pair, err error) *pair {
	switch {
	case err != nil && isMissing(err):
		return nil
	case err != nil:
		h.noteError(err)
		return nil
	case h.clientCA != nil && !h.accepts(p):
		h.note("%s is no client's certificate of the authorities that the member trusts", p.from)
		return nil
	case h.clientCA != nil && !valid(p.leaf, p.chain, h.clientCA):
		h.note("%s is valid from %s to %s", p.from, p.leaf.NotBefore.UTC().Format(time.DateTime), p.leaf.NotAfter.UTC().Format(time.DateTime))
		return nil
	}
	return &p
}

// known is what the cluster's distribution makes for clients.
func (h *hunt) known(ctx context.Context) *pair {
	for _, k := range knownClients(h.owner, h.serverSecret(ctx)) {
		data, err := h.files.Secret(ctx, k.Secret)
		if err != nil {
			h.consider(pair{}, err)
			continue
		}
		if len(data[k.Cert]) == 0 {
			continue
		}
		p, err := pairFrom(data[k.Cert], data[k.Key], "Secret "+h.pod.Namespace+"/"+k.Secret+", key "+k.Cert)
		if found := h.consider(p, err); found != nil {
			return found
		}
	}
	return nil
}

// own is what the pod itself is given for clients.
func (h *hunt) own(ctx context.Context) *pair {
	files := h.serving.Client
	if files.Cert == "" || files.Key == "" {
		return nil
	}
	return h.consider(h.filePair(ctx, files.Cert, files.Key))
}

// serving509 is the member's own certificate, where it is a client's as well.
func (h *hunt) serving509(ctx context.Context) *pair {
	p, err := h.filePair(ctx, h.serving.ClientTLS.Cert, h.serving.ClientTLS.Key)
	if err == nil && !forClients(p.leaf) {
		h.note("%s is for serving alone", p.from)
		return nil
	}
	return h.consider(p, err)
}

func (h *hunt) filePair(ctx context.Context, cert, key string) (pair, error) {
	c, origin, err := h.files.File(ctx, h.pod, h.serving.Container, cert)
	if err != nil {
		return pair{}, err
	}
	k, _, err := h.files.File(ctx, h.pod, h.serving.Container, key)
	if err != nil {
		return pair{}, err
	}
	return pairFrom(c, k, fmt.Sprintf("%s %s/%s, key %s", origin.Kind, h.pod.Namespace, origin.Name, origin.Key))
}

func (h *hunt) serverSecret(ctx context.Context) string {
	_, origin, _ := h.files.File(ctx, h.pod, h.serving.Container, h.serving.ClientTLS.Cert)
	return origin.Name
}

// searched are the pairs in a namespace's Secrets.
type searched struct {
	pairs []pair
	err   error
}

// search looks through the Secrets of the namespace for the one client's
// certificate that the member would take. Where there are several it takes none:
// each may have rights of its own.
func (h *hunt) search(ctx context.Context) *pair {
	if h.clientCA == nil {
		return nil
	}
	all := h.allPairs(ctx)
	if all.err != nil {
		h.note("no search among the Secrets of namespace %s: %v", h.pod.Namespace, all.err)
		return nil
	}
	var found []pair
	for _, p := range all.pairs {
		same := func(q pair) bool { return q.leaf.Equal(p.leaf) }
		if h.accepts(p) && valid(p.leaf, p.chain, h.clientCA) && !h.members(ctx, p.leaf) && !slices.ContainsFunc(found, same) {
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
	h.note("several would do, and which one is meant can't be told: %s", strings.Join(names, "; "))
	return nil
}

func (f *finder) allPairs(ctx context.Context) *searched {
	if f.searched != nil {
		return f.searched
	}
	f.searched = &searched{}
	var list corev1.SecretList
	if f.searched.err = f.reader.List(ctx, &list, client.InNamespace(f.owner.Namespace)); f.searched.err != nil {
		if apierrors.IsForbidden(f.searched.err) {
			f.searched.err = errors.New("it takes the right to list secrets")
		}
		return f.searched
	}
	for i := range list.Items {
		s := &list.Items[i]
		f.searched.pairs = append(f.searched.pairs, pairsIn(s.Data, "Secret "+s.Namespace+"/"+s.Name)...)
	}
	return f.searched
}

// members says whether a certificate is one that the member serves with.
func (h *hunt) members(ctx context.Context, leaf *x509.Certificate) bool {
	for _, file := range []string{h.serving.ClientTLS.Cert, h.serving.PeerTLS.Cert} {
		text, _, err := h.files.File(ctx, h.pod, h.serving.Container, file)
		if err != nil {
			continue
		}
		if its, _, err := certificates(text); err == nil && its.Equal(leaf) {
			return true
		}
	}
	return false
}
