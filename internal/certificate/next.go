// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"crypto/x509"
	"errors"
	"fmt"
	"time"
)

// Settings are what an installation may choose. There is no useful zero value:
// see DefaultSettings.
type Settings struct {
	// Life is how long a serving certificate lives. It is renewed when a third is left.
	Life time.Duration
	// AuthorityLife is the same of an authority.
	AuthorityLife time.Duration
	// Settle is how long every webhook must have trusted an authority before a
	// certificate of that authority is served: API servers learn of a changed
	// configuration by and by.
	Settle time.Duration
}

// DefaultSettings are those of an installation that asks for nothing else.
func DefaultSettings() Settings {
	return Settings{Life: 7 * 24 * time.Hour, AuthorityLife: 365 * 24 * time.Hour, Settle: time.Minute}
}

// Validate refuses settings by which a certificate could run out before its
// successor may be served.
func (s Settings) Validate() error {
	switch {
	case s.Settle < 0 || s.Life <= 0:
		return errors.New("lifetimes of certificates must be positive")
	case s.Life < 6*s.Settle:
		return fmt.Errorf("a certificate's lifetime of %s is too short: it must be at least six times the settle time of %s", s.Life, s.Settle)
	case s.AuthorityLife < 3*s.Life:
		return fmt.Errorf("an authority's lifetime of %s is too short: it must be at least three times the certificate's of %s", s.AuthorityLife, s.Life)
	}
	return nil
}

// sight is what a replica sees when it decides.
type sight struct {
	// now is the time by the API server's clock, which is the one that judges.
	now   time.Time
	host  string
	trust trust
	// settled says that trust has been so for the settle time.
	settled bool
	// blind says that this replica has no right to see whom webhooks trust, and
	// so nothing to wait for.
	blind bool
	// servedBy is the authority of the valid certificate that this replica
	// serves, nil where it serves none.
	servedBy *x509.Certificate
}

// next takes the state one step on. It returns what it did in plain words, and
// nothing where there is nothing to do.
func (s Settings) next(v sight, old state) (state, []string, error) {
	st, said := s.clean(v, old)
	said = append(said, s.adopt(v, &st)...)
	switch {
	case st.next == nil && (st.authority == nil || due(v.now, st.authority.cert, s.AuthorityLife) || outlived(v.now, st.authority.cert, s.AuthorityLife)):
		made, err := newAuthority(v.now, s.AuthorityLife)
		if err != nil {
			return old, nil, err
		}
		st.next = made
		said = append(said, "made a new certificate authority; it signs nothing before every webhook trusts it")
	case st.next != nil && v.trust.holds(st.next.cert) && (v.settled || s.urgent(v, st)):
		s.promote(v, &st)
		said = append(said, "every webhook trusts the new certificate authority: it signs from now on")
	}
	issued, err := s.issue(v, &st)
	if err != nil {
		return old, nil, err
	}
	return st, append(said, issued...), nil
}

// clean drops what can't be used any more. The certificate of an authority that
// lost its key stays trusted, since what it signed may still be served.
func (s Settings) clean(v sight, st state) (state, []string) {
	var said []string
	if a := st.authority; a != nil && !a.signs(v.now) {
		st.authority = nil
		if v.now.Before(a.cert.NotAfter) {
			st.keepTrusting(a.cert, v.now.Add(s.Life))
		}
		said = append(said, "the certificate authority can't be used: it ran out, or isn't valid yet, or has no RSA key")
	}
	if n := st.next; n != nil && !n.signs(v.now) {
		st.next = nil
		said = append(said, "the announced certificate authority can't be used and is dropped")
	}
	if st.formerUntil.IsZero() {
		st.formerUntil = v.now.Add(s.Life).Truncate(time.Second)
	}
	var former []*x509.Certificate
	for _, c := range st.former {
		if v.now.Before(c.NotAfter) && v.now.Before(st.formerUntil) {
			former = append(former, c)
		}
	}
	if len(former) < len(st.former) {
		said = append(said, "a former certificate authority is trusted no more: nothing that it signed is valid any longer")
	}
	st.former = former
	if len(former) == 0 {
		st.formerUntil = time.Time{}
	}
	return st, said
}

// adopt keeps authorities trusted that a Secret doesn't know and by which
// replicas may serve: when it is new, came from elsewhere, or lay there while
// somebody else kept the certificates. The last shows only at a replica that
// serves nothing yet: the others take out of the caBundle what the Secret lost.
func (s Settings) adopt(v sight, st *state) []string {
	var unknown []*x509.Certificate
	if v.servedBy != nil {
		unknown = append(unknown, v.servedBy)
	}
	if v.servedBy == nil || st.authority == nil || !v.trust.holds(st.authority.cert) {
		unknown = append(unknown, v.trust.ours(v.now)...)
	}
	var said []string
	for _, c := range unknown {
		if !st.trusts(c) {
			st.keepTrusting(c, v.now.Add(s.Life))
			said = append(said, "the Secret doesn't know a certificate authority that is in use: it stays trusted while certificates by it may be served")
		}
	}
	return said
}

// urgent says that no replica can serve anything, so that waiting would win nothing.
func (s Settings) urgent(v sight, st state) bool {
	return v.servedBy == nil && len(st.former) == 0 && !s.good(v, st)
}

func (s Settings) promote(v sight, st *state) {
	before := st.authority
	st.authority, st.next = st.next, nil
	if before == nil {
		return
	}
	until := v.now.Add(s.Life)
	if st.leaf != nil && st.leaf.cert.NotAfter.After(until) {
		until = st.leaf.cert.NotAfter
	}
	st.keepTrusting(before.cert, until)
}

// issue renews the serving certificate where it is due, or not by the authority
// that signs now.
func (s Settings) issue(v sight, st *state) ([]string, error) {
	if st.authority == nil || s.good(v, *st) && !due(v.now, st.leaf.cert, s.lifeBy(v, st.authority)) && !outlived(v.now, st.leaf.cert, s.Life) {
		return nil, nil
	}
	leaf, err := st.authority.issue(v.now, s.Life, v.host)
	if err != nil {
		return nil, err
	}
	if authority := st.authority; !verifies([]*x509.Certificate{leaf.cert}, []*x509.Certificate{authority.cert}, v.host, v.now) {
		// Somebody's own, for clients or for other names.
		st.authority = nil
		st.keepTrusting(authority.cert, v.now.Add(s.Life))
		return []string{"the certificate authority can't be used: no API server accepts a certificate for " + v.host + " by it"}, nil
	}
	st.leaf = leaf
	return []string{"issued a new serving certificate"}, nil
}

// lifeBy is how long a certificate by this authority can live at most.
func (s Settings) lifeBy(v sight, authority *pair) time.Duration {
	return min(s.Life, authority.cert.NotAfter.Sub(v.now))
}

// good says whether the serving certificate is valid, by the present authority.
func (s Settings) good(v sight, st state) bool {
	return st.authority != nil && st.leaf != nil && st.leaf.key != nil &&
		verifies([]*x509.Certificate{st.leaf.cert}, []*x509.Certificate{st.authority.cert}, v.host, v.now)
}

// due says whether a third or less of a certificate's life is left.
func due(now time.Time, cert *x509.Certificate, life time.Duration) bool {
	return cert.NotAfter.Sub(now) <= life/3
}

// outlived says whether a certificate is older than they get now: lives were longer when
// it was made. One that is young stays, or replicas of two minds, in a rollout that
// changes the lifetimes, would replace each other's without end.
func outlived(now time.Time, cert *x509.Certificate, life time.Duration) bool {
	return now.Sub(madeAt(cert)) >= life
}
