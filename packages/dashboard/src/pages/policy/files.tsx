import type { PolicyView } from '@gatehouse/contract'
import { Link } from '@tanstack/react-router'
import { policyText as text } from '../../messages/policy.ts'
import { Code } from '../../ui/code.tsx'
import { Section } from '../../ui/page.tsx'
import { Problems } from './problems.tsx'

type File = PolicyView['files'][number]

const layerText = (layer: string): string =>
  layer === 'system' || layer === 'organisation' || layer === 'agent' ? text.layer[layer] : layer

const FileView = ({ file }: { readonly file: File }) => (
  <details className="card px-4 py-2" open={file.layer !== 'system'}>
    <summary className="flex min-h-11 flex-wrap items-center gap-x-3 sm:min-h-9">
      <span className="mono font-medium [overflow-wrap:anywhere]">{file.file}</span>
      <span className="text-ink-soft">{file.agent ?? layerText(file.layer)}</span>
    </summary>
    <div className="pb-2 pt-1">
      {file.text.trim() === '' ? (
        <p className="text-ink-soft">
          {text.empty}. {text.emptyNext}
        </p>
      ) : (
        <Code text={file.text} label={file.file} tall />
      )}
      {file.layer !== 'system' && (
        <Link
          to="/policy"
          search={{ tab: 'edit', ...(file.agent === null ? {} : { agent: file.agent }) }}
          className="inline-block py-2.5 underline sm:py-1"
        >
          {text.editThis}
        </Link>
      )}
    </div>
  </details>
)

/** The files of the policy, layer by layer, with what is wrong in them. */
export const Files = ({ view }: { readonly view: PolicyView }) => (
  <>
    <p className="mb-1">{text.counts(view.rules, view.tests_passed)}</p>
    <p className="mb-3 max-w-prose text-ink-soft">{text.order}</p>
    {view.problems.length > 0 && (
      <Section title={text.problems}>
        <Problems problems={view.problems} />
      </Section>
    )}
    <div className="mt-4 grid grid-cols-1 gap-3">
      {view.files.map((file) => (
        <FileView key={file.file} file={file} />
      ))}
    </div>
  </>
)
