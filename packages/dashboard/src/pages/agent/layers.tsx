import { useNavigate } from '@tanstack/react-router'
import { useRead } from '../../api.ts'
import { agentsText as text } from '../../messages/agents.ts'
import { policyText } from '../../messages/policy.ts'
import { useMay } from '../../session.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { Section } from '../../ui/page.tsx'
import { Loaded } from '../../ui/states.tsx'
import { OfAgent } from '../policy/effective.tsx'
import { FileRules, nearestFirst } from '../policy/file-rules.tsx'

/** Policy of one agent: what comes of it, and each layer as it is asked, the nearest first. */
export const Layers = ({ agent }: { readonly agent: string }) => {
  const navigate = useNavigate()
  const mayWrite = useMay('policies.manage')
  return (
    <Loaded query={useRead('showPolicies')}>
      {({ files, problems }) => {
        const layers = files.filter((file) => file.agent === null || file.agent === agent)
        return (
          <>
            <Section title={policyText.effective}>
              <OfAgent agent={agent} />
            </Section>
            <p className="mt-6 max-w-prose text-ink-soft">{policyText.order}</p>
            {layers.every((file) => file.agent === null) && (
              <div className="mt-3 flex flex-wrap items-center gap-3">
                <p>{text.noPolicyFile(agent)}</p>
                {mayWrite && (
                  <LinkButton to="/policy" search={{ tab: 'edit', file: agent }}>
                    {text.writePolicy}
                  </LinkButton>
                )}
              </div>
            )}
            {nearestFirst(layers).map((file) => (
              <FileRules
                key={file.file}
                file={file}
                problems={problems.filter((problem) => problem.file === file.file)}
                words=""
                go={({ agent: of }, line) => {
                  const search = { tab: 'edit', file: of ?? '', line: String(line) }
                  void navigate({ to: '/policy', search })
                }}
              />
            ))}
          </>
        )
      }}
    </Loaded>
  )
}
