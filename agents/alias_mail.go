package agents

import "fantail/agents/mail"

type (
	Await  = mail.Await
	Letter = mail.Letter
	Sent   = mail.Sent
)

var (
	ErrLoud      = mail.ErrLoud
	ErrNoMail    = mail.ErrNoMail
	ErrTakenBack = mail.ErrTakenBack
)
