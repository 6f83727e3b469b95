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

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// servingCert is a certificate with its key and chain.
type servingCert struct {
	tls   *tls.Certificate
	chain []*x509.Certificate
	// authority is the signer; nil if it isn't known.
	authority *x509.Certificate
}

// validAt reports whether the certificate is valid at that time. It is false for nil.
func (s *servingCert) validAt(now time.Time) bool {
	return s != nil && !now.Before(s.chain[0].NotBefore) && now.Before(s.chain[0].NotAfter)
}

// server holds the certificate that this replica serves. The zero value serves none.
type server struct {
	clock   clock.PassiveClock // the API server's time
	mu      sync.RWMutex
	current *servingCert
	// waitReason is why a certificate that exists isn't served; empty if none waits.
	waitReason string
	// writeErr is why nothing can be renewed until a user intervenes; nil if it can.
	writeErr error
	// othersTrusted reports that webhooks trusted other authorities when the first certificate
	// wasn't trusted.
	othersTrusted bool
	// authorityEnd is when the authority expires by which API servers accept the served
	// certificate; zero if none is known.
	authorityEnd time.Time
}

var errNoCertificate = errors.New("there is no serving certificate yet")

// GetCertificate implements tls.Config.GetCertificate.
func (s *server) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if now := s.serving(); now != nil {
		return now.tls, nil
	}
	return nil, errNoCertificate
}

func (s *server) serving() *servingCert {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.current
}

// blocked returns why a certificate that exists isn't served, or an empty string.
func (s *server) blocked() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.waitReason
}

// Check returns a readiness check. A replica must leave the Service's endpoints before its
// certificate expires.
func (s *server) Check(*http.Request) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	switch {
	case s.current == nil && s.writeErr != nil:
		return fmt.Errorf("%w: %w", errNoCertificate, s.writeErr)
	case s.current == nil && s.waitReason != "":
		return fmt.Errorf("%w: %s", errNoCertificate, s.waitReason)
	case s.current == nil:
		return errNoCertificate
	}
	leaf := s.current.chain[0]
	what, end := "", leaf.NotAfter
	if !s.authorityEnd.IsZero() && s.authorityEnd.Before(end) {
		what, end = "'s authority", s.authorityEnd
	}
	if end.Sub(s.clock.Now()) > margin(leaf) {
		return nil
	}
	ends := fmt.Errorf("the serving certificate%s expires at %s and could not be renewed", what, format.Time(end))
	if s.writeErr != nil {
		return fmt.Errorf("%w: %w", ends, s.writeErr)
	}
	return ends
}

// setWriteErr records why the Secret can't be written; nil if it can.
func (s *server) setWriteErr(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeErr = why
}

// margin returns how long before its certificate expires a replica stops being ready: an
// hour, or a tenth of a short life.
func margin(leaf *x509.Certificate) time.Duration {
	return min(leaf.NotAfter.Sub(leaf.NotBefore)/10, time.Hour)
}

// outlivesMargin reports whether a certificate is valid for longer than the margin.
func (s *servingCert) outlivesMargin(now time.Time) bool {
	return s.validAt(now) && s.chain[0].NotAfter.Sub(now) > margin(s.chain[0])
}

// rotate replaces the served certificate by c if that is allowed, and reports whether it did.
//
//   - While the current certificate outlives its margin, a certificate of another authority
//     replaces it only after every webhook has trusted that authority for the settle time.
//     The same holds for the first certificate if other authorities were trusted before.
//   - Otherwise c is served as soon as API servers accept it, or at once if unconditional is
//     set.
//   - If no webhook accepts the current certificate, c replaces it as soon as it is accepted.
//     Another client has overwritten the caBundle, and some API servers fail briefly in any
//     case.
func (s *server) rotate(c *servingCert, in inputs, unconditional bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waitReason = ""
	if s.current != nil && s.current.chain[0].Equal(c.chain[0]) || !c.validAt(in.now) {
		return false
	}
	if s.waitReason = s.blockedBy(c, in, unconditional); s.waitReason != "" {
		return false
	}
	s.current, s.authorityEnd = c, time.Time{}
	return true
}

// blockedBy returns why a certificate can't be served yet, or an empty string if it can.
func (s *server) blockedBy(c *servingCert, in inputs, unconditional bool) string {
	accepted := in.unreadable || in.trust.accepts(c.chain, in.host, in.now)
	settled := accepted && (in.settled || in.unreadable)
	lasting := s.current.outlivesMargin(in.now)
	switch {
	case lasting && (sameAuthority(s.current, c) || accepted && s.rejected(in)), !lasting && unconditional:
	case !lasting && !accepted:
		s.othersTrusted = !in.trust.empty()
		return "not every webhook of the configuration trusts its authority, or there is no configuration"
	case !settled && (lasting || s.current == nil && s.othersTrusted):
		return "not every webhook has trusted its authority for long enough"
	}
	return ""
}

// rejected reports whether there are webhooks and none accepts the served certificate.
func (s *server) rejected(in inputs) bool {
	return !in.unreadable && in.trust.rejects(s.current.chain, in.host, in.now)
}

// updateAuthorityEnd records when the authority expires by which API servers accept the
// served certificate. If they don't accept it any more, the last value stays.
func (s *server) updateAuthorityEnd(in inputs) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil {
		return
	}
	if end := in.trust.acceptsUntil(s.current.chain, in.host, in.now); !end.IsZero() {
		s.authorityEnd = end
	}
}

// sameAuthority reports whether both have the same known authority.
func sameAuthority(a, b *servingCert) bool {
	return a.authority != nil && b.authority != nil && a.authority.Equal(b.authority)
}
