// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"crypto/x509"
	"errors"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
)

// Barred reports whether an error is about the access to a member and not about the member
// itself: a permission, a certificate or a password is missing or wrong. The state of the
// member is then unknown.
func Barred(err error) bool {
	if err == nil {
		return false
	}
	var own *access.CertificateError
	var name x509.HostnameError
	var authority x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &own), errors.As(err, &name), errors.As(err, &authority), errors.As(err, &invalid):
		return true
	case errors.Is(err, errCertificateDemanded), errors.Is(err, errCertificateRejected):
		return true
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return true
	}
	return Denied(err)
}

// Denied reports whether etcd itself refused a call, because of its user or because it needs
// one.
func Denied(err error) bool {
	if m, ok := errors.AsType[*MemberError](err); ok {
		err = m.Err // rpctypes recognizes only the original message
	}
	err = rpctypes.Error(err)
	return errors.Is(err, rpctypes.ErrUserEmpty) || errors.Is(err, rpctypes.ErrUserNotFound) || errors.Is(err, rpctypes.ErrAuthFailed) || errors.Is(err, rpctypes.ErrPermissionDenied)
}
