import type { NodeInvite } from '@gatehouse/contract'
import { inviteText } from '@gatehouse/contract/node-invite'
import { useState } from 'react'
import { api } from '../../api.ts'
import { nodesText as text } from '../../messages/nodes.ts'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Dialog, FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'

const Invited = ({
  invite,
  onClose,
}: {
  readonly invite: NodeInvite
  readonly onClose: () => void
}) => {
  const token = inviteText(invite)
  return (
    <Dialog title={text.inviteTitle} onClose={onClose} wide>
      <div className="grid gap-3">
        <Notice tone="warn" role="alert">
          {text.inviteOnce} <Time at={invite.expires_at} />.
        </Notice>
        <Code text={token} label={text.inviteToken} />
        <div>
          <CopyButton text={token} />
        </div>
        <p>{text.inviteNext}</p>
        <Code text="gatehouse join" label={text.inviteNext} />
        <div className="flex justify-end">
          <Button tone="primary" onClick={onClose}>
            {text.done}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

/** Makes the token with which another machine joins, and shows it once. */
export const InviteDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const [url, setUrl] = useState(location.origin)
  const [invite, setInvite] = useState<NodeInvite | null>(null)
  if (invite) return <Invited invite={invite} onClose={onClose} />
  return (
    <FormDialog
      title={text.inviteTitle}
      submit={text.inviteMake}
      onSubmit={async () => setInvite(await api.inviteNode({ url }))}
      onClose={onClose}
    >
      {(errors) => (
        <>
          <p>{text.inviteIntro}</p>
          <TextField
            label={text.url}
            type="url"
            required
            error={errors['url']}
            value={url}
            onChange={({ target }) => setUrl(target.value)}
          />
        </>
      )}
    </FormDialog>
  )
}
