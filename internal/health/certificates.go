// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func certificateChecks() []Check {
	return []Check{
		{
			ID: "C001", Category: Certificates, Title: "no serving certificate is about to expire",
			Doc:  fmt.Sprintf("The check reads the certificate that each member presents to clients. It warns %d days before the certificate expires, and fails %d days before. If cert-manager renews the certificate, the check warns when a quarter of the validity is left, and fails at a tenth.", CertificateWarn/day, certificateFail/day),
			Cure: "Renew it. etcd reads its certificate at every handshake, so you don't need to restart it.",
			run:  servingCertificates, needs: NeedMembers | NeedRenewal,
		},
		{
			ID: "C002", Category: Certificates, Title: "no certificate in the members' Secrets is about to expire",
			Doc:  "The check reads every certificate in the Secrets that the members mount, and in the Secrets that the operator names for clients: CA, server, peer, client. An expired peer certificate separates the members. An expired client CA locks all clients out. If etcd uses a certificate that is in no Secret, for example one on the node, the check can't read it, and the result is unknown.",
			Cure: "Renew it. etcd reads a certificate at every handshake, but it reads a new CA only when it starts. For a new CA, restart the members one by one, and have both CAs in the bundle until all members have restarted.",
			run:  secretCertificates, needs: NeedSecrets,
		},
		{
			ID: "C003", Category: Certificates, Title: "clients show a certificate",
			Doc:  "The check reads whether clients must use TLS and present a certificate. If they need no certificate, any client that reaches the port can read and write everything, unless authentication by password is on.",
			Cure: "Set --cert-file, --key-file, --trusted-ca-file and --client-cert-auth, or spec.etcd.clientUrlTls of an Etcd. Until then, keep other clients away with a NetworkPolicy.",
			run:  clientTLS, needs: NeedMembers, eachPart: true,
		},
	}
}

// How long before its end a certificate is reported. 30 days leave time for a manual
// renewal; with 7 days left it must be done now.
const (
	day             = 24 * time.Hour
	CertificateWarn = 30 * day
	certificateFail = 7 * day
)

// expiring formats the expiry of a certificate; false where that is far off. Life is the
// whole validity of a certificate that is renewed automatically, and 0 otherwise.
func (f *Facts) expiring(notAfter time.Time, life time.Duration) (level Level, when string, soon bool) {
	warn, fail := CertificateWarn, certificateFail
	if life > 0 {
		warn, fail = min(warn, life/4), min(fail, life/10)
	}
	left := notAfter.Sub(f.At)
	switch {
	case left <= 0:
		return Failure, fmt.Sprintf("expired %s ago", format.Age(left)), true
	case left < fail:
		return Failure, fmt.Sprintf("expires in %s, at %s", format.Age(left), format.Time(notAfter)), true
	case left < warn:
		return Warning, fmt.Sprintf("expires in %s, at %s", format.Age(left), format.Time(notAfter)), true
	}
	return OK, "", false
}

// renewed finds the certificate that a member presents among those in Secrets, by its
// expiry. It is zero where none is known.
func (f *Facts) renewed(notAfter time.Time) Certificate {
	for _, c := range f.Certificates.Value {
		if c.NotAfter.Equal(notAfter) {
			return c
		}
	}
	return Certificate{}
}

func servingCertificates(f *Facts) []Finding {
	found := f.expired()
	if why, reachable := f.membersReachable(); !reachable {
		return append(found, why...)
	}
	var first time.Time
	for _, m := range f.Responding() {
		if m.CertificateExpiry.IsZero() {
			continue
		}
		if first.IsZero() || m.CertificateExpiry.Before(first) {
			first = m.CertificateExpiry
		}
		c := f.renewed(m.CertificateExpiry)
		if level, when, soon := f.expiring(m.CertificateExpiry, c.Life); soon {
			found = append(found, about(level, m.Pod, f.renew(c), "its serving certificate %s", when))
		}
	}
	switch {
	case len(found) > 0:
		return found
	case first.IsZero():
		return notApplicable("members serve clients without TLS")
	}
	return ok("the first expires in %s", format.Age(first.Sub(f.At)))
}

// expired returns the serving certificates because of which a member could not be asked.
func (f *Facts) expired() []Finding {
	var found []Finding
	for _, m := range f.Survey.Value.Members {
		shown, refused := errors.AsType[*access.CertificateError](m.Err)
		if !refused || shown.NotAfter.IsZero() || !shown.NotAfter.Before(f.At) {
			continue
		}
		found = append(found, about(Failure, m.Pod, f.renew(f.renewed(shown.NotAfter)), "its serving certificate expired %s ago", format.Age(f.At.Sub(shown.NotAfter))))
	}
	return found
}

func secretCertificates(f *Facts) []Finding {
	if f.Certificates.Err != nil {
		return []Finding{unknown("the Secrets with certificates", f.Certificates.Err)}
	}
	if len(f.Certificates.Value)+len(f.Unread) == 0 {
		return notApplicable("the members mount no certificates")
	}
	var found []Finding
	var first time.Time
	for _, c := range f.Certificates.Value {
		if first.IsZero() || c.NotAfter.Before(first) {
			first = c.NotAfter
		}
		if level, when, soon := f.expiring(c.NotAfter, c.Life); soon {
			found = append(found, Finding{Level: level, Fix: f.renew(c), Message: fmt.Sprintf("the %s certificate in %s %s", c.Role, c.Where, when)})
		}
	}
	for _, err := range f.Unread {
		found = append(found, unknown("a certificate", err))
	}
	if len(found) > 0 {
		return found
	}
	return ok("%s, the first expires in %s", policy.Plural(len(f.Certificates.Value), "certificate", "certificates"), format.Age(first.Sub(f.At)))
}

// renew returns how to renew a certificate.
func (f *Facts) renew(c Certificate) string {
	switch {
	case c.Issuer != "":
		return "cmctl renew " + c.Issuer + " -n " + f.Owner.Namespace
	case c.Where != "":
		return "renew it in " + c.Where
	}
	return "renew it where it was issued"
}

func clientTLS(f *Facts) []Finding {
	pod, found := f.inspectedPod()
	if pod == nil {
		return found
	}
	s, found := f.servingOf(pod)
	if s == nil {
		return found
	}
	switch err := unknownTLS(s); {
	case f.Password:
		return nil
	case err != nil:
		return []Finding{unknown("whether clients connect with TLS and a certificate", err)}
	case s.ClientTLS.Cert == "" && !s.ClientTLS.Auto:
		return []Finding{info(f.changeFlags("set --cert-file, --key-file, --trusted-ca-file and --client-cert-auth, and https in --listen-client-urls and --advertise-client-urls", "set FIELD, and FIELD for the members among themselves", flavour.ClientTLS, flavour.PeerTLS), "clients connect without TLS, and any client that reaches the port reads and writes everything")}
	case !s.ClientTLS.DemandsClient():
		return []Finding{info(f.changeFlags("set --trusted-ca-file and --client-cert-auth", "set FIELD", flavour.ClientTLS), "clients need no certificate, and any client that reaches the port reads and writes everything")}
	}
	return nil
}

// unknownTLS returns why it is not known whether clients connect with TLS, or whether they need a certificate, nil if
// both are known. Etcd ignores certificates where it listens without TLS.
func unknownTLS(s *etcdconf.Config) error {
	secure := func(u string) bool { return !strings.HasPrefix(u, "http://") }
	flags := []string{"listen-client-urls"}
	if s.Unknown["listen-client-urls"] != "" || slices.ContainsFunc(s.ListenClient, secure) {
		flags = append(flags, "cert-file")
		if s.ClientTLS.Cert == "" {
			flags = append(flags, "auto-tls")
		}
	}
	if len(flags) > 1 && !s.ClientTLS.DemandsClient() {
		flags = append(flags, "client-cert-auth", "trusted-ca-file")
	}
	for _, flag := range flags {
		if why := s.Unknown[flag]; why != "" {
			return errors.New(why)
		}
	}
	return nil
}
