import { useNavigate } from '@tanstack/react-router'
import { api } from '../../api.ts'
import { upstreamsText as text } from '../../messages/upstreams.ts'
import { useMay } from '../../session.tsx'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Failure } from '../../ui/notice.tsx'
import { useAct } from '../../ui/use-act.ts'
import { withRules } from '../approvals/propose-rule.ts'
import { keepDraft, placeOf, useDrafts } from '../policy/drafts.ts'

/** Rules of a policy file, as the entries of their list. */
const entriesIn = (policy: string): readonly string[] =>
  policy
    .split('\n')
    .filter((line) => line.startsWith('  '))
    .map((line) => line.slice(2))

/** Suggested tiers of a server's tools: a draft of the organisation's file is begun with them, or they are copied. */
export const RulesDialog = ({
  policy,
  onClose,
}: {
  readonly policy: string
  readonly onClose: () => void
}) => {
  const navigate = useNavigate()
  const drafts = useDrafts()
  const mayWrite = useMay('policies.manage')
  const act = useAct()
  const place = placeOf('')
  const draft = () =>
    void act.run(async () => {
      const { files } = await api.showPolicies()
      const standing = drafts[place.file] ?? files.find(({ file }) => file === place.file)
      const drafted = withRules(standing?.text ?? null, entriesIn(policy))
      if (drafted === null) throw new Error(text.rulesByHand(place.file))
      keepDraft({ ...place, text: drafted, version: standing?.version ?? 'none' })
      await navigate({ to: '/policy', search: { tab: 'edit' } })
    })
  return (
    <Dialog title={text.rules} onClose={onClose} wide>
      <div className="grid grid-cols-1 gap-3">
        <p>{text.rulesIntro}</p>
        <Code text={policy} label={text.rules} tall />
        <Failure error={act.error} />
        <div className="flex flex-wrap gap-2">
          {mayWrite && entriesIn(policy).length > 0 && (
            <Button tone="primary" busy={act.busy} onClick={draft}>
              {text.rulesDraft}
            </Button>
          )}
          <CopyButton text={policy} />
        </div>
      </div>
    </Dialog>
  )
}
