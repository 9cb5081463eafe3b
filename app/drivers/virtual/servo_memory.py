"""The memory of one virtual servo: its control table, read and written by address."""

from app.drivers.servo_table import Item, ServoModel

__all__ = ["ServoMemory"]


class ServoMemory:
    """Bytes of one servo; knows items and ranges, not what they mean."""

    def __init__(self, model: ServoModel, servo: int) -> None:
        """Start as delivered, but for the id."""
        self.model = model
        self._bytes = bytearray(model.size)
        self._item_at = {item.address: item for item in model.items.values()}
        self._name_at = {item.address: name for name, item in model.items.items()}
        for name, item in model.items.items():
            self.set(name, item.initial)
        self.set("id", servo)

    def get(self, name: str) -> int:
        """Return the value of an item."""
        item = self.model.items[name]
        return item.decode(bytes(self._bytes[item.address : item.address + item.size]))

    def set(self, name: str, value: int) -> None:
        """Set an item, whatever the bus may do."""
        item = self.model.items[name]
        self._bytes[item.address : item.address + item.size] = item.encode(value)

    def restart(self) -> None:
        """Give the RAM its initial values; the EEPROM stays."""
        for name, item in self.model.items.items():
            if item.address >= self.model.eeprom_end:
                self.set(name, item.initial)

    def read(self, address: int, size: int) -> bytes | None:
        """Return bytes; None where the table ends before."""
        if size < 1 or address + size > self.model.size:
            return None
        return bytes(self._bytes[address : address + size])

    def split(self, address: int, data: bytes) -> list[tuple[str, Item, int]] | None:
        """Split written bytes into items (name, item, value); None: not whole items."""
        found = []
        while data:
            item = self._item_at.get(address)
            if item is None or len(data) < item.size:
                return None
            value = item.decode(data[: item.size])
            found.append((self._name_at[address], item, value))
            address, data = address + item.size, data[item.size :]
        return found
