// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Settings are the parameters of an installation. The zero value is not useful: see
// DefaultSettings.
type Settings struct {
	// Life is how long a serving certificate lives. It is renewed when a third is left.
	Life time.Duration
	// AuthorityLife is how long an authority lives. The next one is created when a third is left.
	AuthorityLife time.Duration
	// Settle is how long every webhook must have trusted an authority before a
	// certificate of that authority is served. API servers receive a changed configuration
	// at different times.
	Settle time.Duration
}

// DefaultSettings returns the settings of an installation that sets none.
func DefaultSettings() Settings {
	return Settings{Life: 7 * 24 * time.Hour, AuthorityLife: 365 * 24 * time.Hour, Settle: time.Minute}
}

// Validate returns an error if a certificate could expire before its successor may be
// served.
func (s Settings) Validate() error {
	switch {
	case s.Settle < 0 || s.Life <= 0:
		return errors.New("lifetimes of certificates must be positive")
	case s.Life < 6*s.Settle:
		return fmt.Errorf("a certificate's lifetime of %s is too short: it must be at least six times the settle time of %s", policy.Duration(s.Life), policy.Duration(s.Settle))
	case s.AuthorityLife < 3*s.Life:
		return fmt.Errorf("an authority's lifetime of %s is too short: it must be at least three times the certificate's of %s", policy.Duration(s.AuthorityLife), policy.Duration(s.Life))
	}
	return nil
}

// inputs is what a replica observes before it decides.
type inputs struct {
	// now is the API server's time: it decides whether a certificate is valid.
	now   time.Time
	host  string
	trust trust
	// settled reports whether trust has been unchanged for the settle time.
	settled bool
	// unreadable reports that this replica has no permission to read which authorities
	// the webhooks trust. It then has nothing to wait for.
	unreadable bool
	// servedBy is the authority of the valid certificate that this replica serves, or nil
	// if it serves none.
	servedBy *x509.Certificate
}

// next returns the state after the next step, and a log message for each change. There are
// none if there is nothing to do.
func (s Settings) next(in inputs, old state) (state, []string, error) {
	st, done := s.dropUnusable(in, old)
	done = append(done, s.trustUnknown(in, &st)...)
	switch {
	case st.next == nil && (st.authority == nil || needsRenewal(in.now, st.authority.cert, s.AuthorityLife) || tooOld(in.now, st.authority.cert, s.AuthorityLife)):
		made, err := newAuthority(in.now, s.AuthorityLife)
		if err != nil {
			return old, nil, err
		}
		st.next = made
		done = append(done, "created a certificate authority; it signs nothing until every webhook trusts it")
	case st.next != nil && in.trust.includes(st.next.cert) && (in.settled || s.nothingServed(in, st)):
		s.promote(in, &st)
		done = append(done, "every webhook trusts the new certificate authority; it signs from now on")
	}
	issued, err := s.issue(in, &st)
	if err != nil {
		return old, nil, err
	}
	return st, append(done, issued...), nil
}

// dropUnusable removes what can't be used any more. The certificate of an authority that
// lost its key stays trusted, because a certificate that it signed may still be served.
func (s Settings) dropUnusable(in inputs, st state) (state, []string) {
	var done []string
	if a := st.authority; a != nil && !a.signs(in.now) {
		st.authority = nil
		if in.now.Before(a.cert.NotAfter) {
			st.keepTrusting(a.cert, in.now.Add(s.Life))
		}
		done = append(done, "the certificate authority is unusable: it has expired, isn't valid yet, or has no RSA key")
	}
	if n := st.next; n != nil && !n.signs(in.now) {
		st.next = nil
		done = append(done, "removed the announced certificate authority, which is unusable")
	}
	if st.formerUntil.IsZero() {
		st.formerUntil = in.now.Add(s.Life).Truncate(time.Second)
	}
	var former []*x509.Certificate
	for _, c := range st.former {
		if in.now.Before(c.NotAfter) && in.now.Before(st.formerUntil) {
			former = append(former, c)
		}
	}
	if len(former) < len(st.former) {
		done = append(done, "a former certificate authority is no longer trusted, because everything that it signed has expired")
	}
	st.former = former
	if len(former) == 0 {
		st.formerUntil = time.Time{}
	}
	return st, done
}

// trustUnknown keeps authorities trusted that are missing from the Secret and whose
// certificates replicas may serve. That happens if the Secret is new, was copied from
// elsewhere, or was unused while another program maintained the certificates. Only a replica
// that serves nothing yet can find the last case: the others remove from the caBundle what
// the Secret lost.
func (s Settings) trustUnknown(in inputs, st *state) []string {
	var unknown []*x509.Certificate
	if in.servedBy != nil {
		unknown = append(unknown, in.servedBy)
	}
	if in.servedBy == nil || st.authority == nil || !in.trust.includes(st.authority.cert) {
		unknown = append(unknown, in.trust.ownAuthorities(in.now)...)
	}
	var done []string
	for _, c := range unknown {
		if !st.trusts(c) {
			st.keepTrusting(c, in.now.Add(s.Life))
			done = append(done, "the Secret lacks a certificate authority that is in use; it stays trusted while its certificates may be served")
		}
	}
	return done
}

// nothingServed reports whether no replica can serve anything, so that there is no reason to
// wait.
func (s Settings) nothingServed(in inputs, st state) bool {
	return in.servedBy == nil && len(st.former) == 0 && !s.leafIsValid(in, st)
}

func (s Settings) promote(in inputs, st *state) {
	before := st.authority
	st.authority, st.next = st.next, nil
	if before == nil {
		return
	}
	until := in.now.Add(s.Life)
	if st.leaf != nil && st.leaf.cert.NotAfter.After(until) {
		until = st.leaf.cert.NotAfter
	}
	st.keepTrusting(before.cert, until)
}

// issue renews the serving certificate if it is due or another authority signed it.
func (s Settings) issue(in inputs, st *state) ([]string, error) {
	if st.authority == nil || s.leafIsValid(in, *st) && !needsRenewal(in.now, st.leaf.cert, s.lifeBy(in, st.authority)) && !tooOld(in.now, st.leaf.cert, s.Life) {
		return nil, nil
	}
	leaf, err := st.authority.issue(in.now, s.Life, in.host)
	if err != nil {
		return nil, err
	}
	if authority := st.authority; !verifies([]*x509.Certificate{leaf.cert}, []*x509.Certificate{authority.cert}, in.host, in.now) {
		// A user's authority, which is limited to clients or to other names.
		st.authority = nil
		st.keepTrusting(authority.cert, in.now.Add(s.Life))
		return []string{"the certificate authority is unusable: no API server accepts its certificate for " + in.host}, nil
	}
	st.leaf = leaf
	return []string{"issued a serving certificate"}, nil
}

// lifeBy returns how long a certificate of this authority can live at most.
func (s Settings) lifeBy(in inputs, authority *pair) time.Duration {
	return min(s.Life, authority.cert.NotAfter.Sub(in.now))
}

// leafIsValid reports whether the serving certificate is valid and the present authority
// signed it.
func (s Settings) leafIsValid(in inputs, st state) bool {
	return st.authority != nil && st.leaf != nil && st.leaf.key != nil &&
		verifies([]*x509.Certificate{st.leaf.cert}, []*x509.Certificate{st.authority.cert}, in.host, in.now)
}

// needsRenewal reports whether at most a third of a certificate's life is left.
func needsRenewal(now time.Time, cert *x509.Certificate, life time.Duration) bool {
	return cert.NotAfter.Sub(now) <= life/3
}

// tooOld reports whether a certificate is older than the present lifetime, because lifetimes
// were longer when it was created. A younger one stays: during a rollout that changes
// lifetimes, replicas with old and new settings would otherwise replace each other's
// certificates without end.
func tooOld(now time.Time, cert *x509.Certificate, life time.Duration) bool {
	return now.Sub(createdAt(cert)) >= life
}
