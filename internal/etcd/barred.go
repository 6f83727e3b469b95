// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"crypto/x509"
	"errors"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Barred says whether an error is about the way to a member rather than about the
// member: a permission, a certificate or a password stands between, and what it would
// have said is not known.
func Barred(err error) bool {
	if err == nil {
		return false
	}
	var own *CertificateError
	var name x509.HostnameError
	var authority x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &own), errors.As(err, &name), errors.As(err, &authority), errors.As(err, &invalid):
		return true
	case errors.Is(err, errWantsCertificate), errors.Is(err, errDislikesCertificate):
		return true
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return true
	}
	return Denied(err)
}

// Denied says whether etcd itself refuses, because of its user or for want of one.
func Denied(err error) bool {
	if m, worded := errors.AsType[*MemberError](err); worded {
		err = m.Err // whose words etcd doesn't know
	}
	said := rpctypes.Error(err)
	return errors.Is(said, rpctypes.ErrUserEmpty) || errors.Is(said, rpctypes.ErrAuthFailed) || errors.Is(said, rpctypes.ErrPermissionDenied)
}
