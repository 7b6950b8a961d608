import { Button } from "../ui/button.tsx";
import { Row } from "../ui/layout.tsx";
import { Select } from "../ui/select.tsx";
import { isolate } from "../words/format.ts";
import { useWords } from "../words/words.ts";
import { type FleetView, fleetFilters, fleetSorts } from "./fleet-view.ts";
import { ListSearch } from "./list-search.tsx";

type FleetFieldsProps = {
  view: FleetView;
  onSearch: (search: string) => void;
  show: (change: Partial<FleetView>) => void;
};

/** What narrows the list down, and its order. */
export function FleetFields({ view, onSearch, show }: FleetFieldsProps) {
  const { servers, fleet } = useWords();
  return (
    <>
      <ListSearch value={view.search} onChange={onSearch}>
        <Select
          label={servers.filter}
          value={view.filter}
          onChange={(filter) => show({ filter })}
          options={fleetFilters.map((name) => [name, fleet.filters[name]])}
        />
        <Select
          label={servers.sort}
          value={view.sort}
          onChange={(sort) => show({ sort })}
          options={fleetSorts.map((name) => [name, fleet.sorts[name]])}
        />
      </ListSearch>
      {view.node !== "" && (
        <Row>
          <span>{fleet.onNode(isolate(view.node))}</span>
          <Button onPress={() => show({ node: "" })}>{fleet.allNodes}</Button>
        </Row>
      )}
      {view.tag !== "" && (
        <Row>
          <span>{servers.tagged(isolate(view.tag))}</span>
          <Button onPress={() => show({ tag: "" })}>{servers.allTags}</Button>
        </Row>
      )}
    </>
  );
}
