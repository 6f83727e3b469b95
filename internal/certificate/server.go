// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// served is a certificate with its key.
type served struct {
	tls   *tls.Certificate
	chain []*x509.Certificate
	// authority signed it; nil where that isn't known.
	authority *x509.Certificate
}

// validAt says whether clients accept its dates.
func (s *served) validAt(now time.Time) bool {
	return s != nil && !now.Before(s.chain[0].NotBefore) && now.Before(s.chain[0].NotAfter)
}

// server has the certificate that this replica serves. The zero value serves none.
type server struct {
	clock clock.PassiveClock // the API server's time
	mu    sync.RWMutex
	now   *served
	waits string // see waiting
	// immutable is why nothing can be renewed before somebody does something; nil where
	// that isn't so.
	immutable error
	// distrusted says that others were trusted when the first one wasn't.
	distrusted bool
	// authorityEnd is until when API servers have an authority for what is served;
	// zero where they never had one, as far as is known.
	authorityEnd time.Time
}

var errNone = errors.New("there is no serving certificate yet")

// GetCertificate is for tls.Config.
func (s *server) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if now := s.serving(); now != nil {
		return now.tls, nil
	}
	return nil, errNone
}

func (s *server) serving() *served {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.now
}

// waiting says why a certificate that is there isn't served; empty where none waits.
func (s *server) waiting() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.waits
}

// Check says what is wrong with the certificate that is served, for readiness: a
// replica must be out of the Service's endpoints before its certificate runs out.
func (s *server) Check(*http.Request) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	switch {
	case s.now == nil && s.immutable != nil:
		return fmt.Errorf("%w: %w", errNone, s.immutable)
	case s.now == nil && s.waits != "":
		return fmt.Errorf("%w: %s", errNone, s.waits)
	case s.now == nil:
		return errNone
	}
	leaf := s.now.chain[0]
	what, end := "", leaf.NotAfter
	if !s.authorityEnd.IsZero() && s.authorityEnd.Before(end) {
		what, end = "'s authority", s.authorityEnd
	}
	if end.Sub(s.clock.Now()) > margin(leaf) {
		return nil
	}
	ends := fmt.Errorf("the serving certificate%s is valid until %s and could not be renewed", what, end.UTC().Format(time.RFC3339))
	if s.immutable != nil {
		return fmt.Errorf("%w: %w", ends, s.immutable)
	}
	return ends
}

// stuck notes why the Secret can't be written, nil where it can.
func (s *server) stuck(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.immutable = why
}

// margin is how long before its certificate runs out a replica isn't ready any
// more: an hour, of a short life a tenth.
func margin(leaf *x509.Certificate) time.Duration {
	return min(leaf.NotAfter.Sub(leaf.NotBefore)/10, time.Hour)
}

// lasts says whether a certificate is valid for longer than the margin.
func (s *served) lasts(now time.Time) bool {
	return s.validAt(now) && s.chain[0].NotAfter.Sub(now) > margin(s.chain[0])
}

// offer serves a certificate if it may be, and says whether it does so since
// now. One that lasts gives way to another authority's only after every webhook
// has trusted that one for the settle time, and so does the first one where others were
// trusted before it. Else API servers have to accept it at once, unless it is unasked for.
//
// One that no webhook accepts any more isn't held on to: who overwrote the caBundle left
// no time in which both are trusted. Whatever is served then, some API servers refuse for
// a while: those that haven't heard of the change yet, which is a moment, or those that
// have, which all are soon and stay so for as long as this replica waits.
func (s *server) offer(c *served, v sight, unasked bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waits = ""
	if s.now != nil && s.now.chain[0].Equal(c.chain[0]) || !c.validAt(v.now) {
		return false
	}
	if s.waits = s.hinders(c, v, unasked); s.waits != "" {
		return false
	}
	s.now, s.authorityEnd = c, time.Time{}
	return true
}

// hinders says why a certificate can't be served yet, nothing where it can.
func (s *server) hinders(c *served, v sight, unasked bool) string {
	accepted := v.blind || v.trust.accepts(c.chain, v.host, v.now)
	settled := accepted && (v.settled || v.blind)
	lasts := s.now.lasts(v.now)
	switch {
	case lasts && (sameAuthority(s.now, c) || accepted && s.refused(v)), !lasts && unasked:
	case !lasts && !accepted:
		s.distrusted = !v.trust.empty()
		return "not every webhook of the configuration trusts its authority, or there is no configuration"
	case !settled && (lasts || s.now == nil && s.distrusted):
		return "not every webhook has trusted its authority for long enough"
	}
	return ""
}

// refused says that no webhook accepts what is served.
func (s *server) refused(v sight) bool {
	return !v.blind && v.trust.refuses(s.now.chain, v.host, v.now)
}

// vouched notes by whom API servers accept what is served. Where they accept it no
// more, what was known last stands.
func (s *server) vouched(v sight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		return
	}
	if end := v.trust.acceptsUntil(s.now.chain, v.host, v.now); !end.IsZero() {
		s.authorityEnd = end
	}
}

// sameAuthority is false where either's isn't known.
func sameAuthority(a, b *served) bool {
	return a.authority != nil && b.authority != nil && a.authority.Equal(b.authority)
}
