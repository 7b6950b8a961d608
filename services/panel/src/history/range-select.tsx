import { Select } from "../ui/select.tsx";
import { useWords } from "../words/words.ts";
import { type Range, ranges } from "./range.ts";

export function RangeSelect({ value, onChange }: { value: Range; onChange: (range: Range) => void }) {
  const { history } = useWords();
  const options = ranges.map((range) => [range, history.ranges[range]] as const);
  return <Select label={history.range} value={value} onChange={onChange} options={options} isInline />;
}
