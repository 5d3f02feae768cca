import { useState } from 'react'
import { api } from '../../api.ts'
import { upstreamsText as text } from '../../messages/upstreams.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'

/** Nothing needs to listen there: the person brings the address back. */
const redirectUrl = 'http://127.0.0.1:7799/upstream-login'

/** A login at the server's own authorization server, in another tab of the browser. */
export const LoginDialog = ({
  name,
  onDone,
  onClose,
}: {
  readonly name: string
  readonly onDone: () => Promise<void>
  readonly onClose: () => void
}) => {
  const [address, setAddress] = useState<string | null>(null)
  const [redirected, setRedirected] = useState('')
  const begin = async () => {
    setAddress((await api.loginUpstream({ name, redirect_url: redirectUrl })).address)
  }
  const finish = async () => {
    await api.finishUpstreamLogin({ name, redirected: redirected.trim() })
    await onDone()
  }
  return (
    <FormDialog
      title={text.logInTitle(name)}
      submit={address === null ? text.logInStart : text.logInFinish}
      onSubmit={address === null ? begin : finish}
      onClose={onClose}
    >
      {address !== null && (
        <>
          <div>
            <p>{text.logInOpen}</p>
            <a
              href={address}
              target="_blank"
              rel="noreferrer noopener"
              className="mono underline [overflow-wrap:anywhere]"
            >
              {address}
            </a>
          </div>
          <TextField
            label={text.logInPaste}
            hint={text.logInPasteHint}
            required
            autoComplete="off"
            value={redirected}
            onChange={({ target }) => setRedirected(target.value)}
          />
        </>
      )}
    </FormDialog>
  )
}
